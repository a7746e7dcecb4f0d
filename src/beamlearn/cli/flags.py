"""Which flags fix an error: the library names settings, and commands know their flags."""

import re
from collections.abc import Mapping, Sequence
from typing import Any


def flags_of(commands: Any, arguments: Sequence[str]) -> dict[str, str]:
    """The flag of each setting that the command in `arguments` has, by the setting's name."""
    command = commands
    for word in arguments:
        known = getattr(command, "commands", {})
        if word not in known:
            break
        command = known[word]
    found: dict[str, str] = {}
    for parameter in command.params:
        for flag in (option for option in parameter.opts if option.startswith("--")):
            found |= {parameter.name: flag, flag[2:].replace("-", "_"): flag}
    return found


def with_flags(error: ValueError, flags: Mapping[str, str]) -> str:
    """A message with flags for the settings that it names, and for those that would fix it.

    >>> with_flags(ValueError("`width` must be at least 1, got 0."), {"width": "--width"})
    '--width must be at least 1, got 0.'
    """
    message = re.sub("`([a-z_]+)`", lambda found: flags.get(found[1], found[0]), str(error))
    fixes = [flags[name] for name in getattr(error, "settings", ()) if name in flags]
    missing = [flag for flag in fixes if not re.search(rf"{flag}\b", message)]
    return f"{message} (See {' and '.join(missing)}.)" if missing else message
