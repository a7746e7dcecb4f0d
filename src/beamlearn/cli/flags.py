"""Which flags fix an error: the library names settings, and commands know their flags."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..comparison.grid import COMPARED

SETTING = re.compile(
    r"`(?:[a-z_]+\.)?(?P<name>[a-z_]+)(?:=(?P<value>[^`]+))?`(?: = (?P<after>\d+\.\d+|[\w-]+))?"
)
"""A setting in a message, maybe with its group or a value."""


def flags_of(commands: Any, arguments: Sequence[str]) -> dict[str, str]:
    """The flag of each setting that the command in `arguments` has, by the setting's name.

    Where several values are compared, it is the flag for those.
    """
    command = commands
    for word in arguments:
        known = getattr(command, "commands", {})
        if word not in known:
            break
        command = known[word]
    found = own_flags(command)
    several = {name: found[names] for name, names in COMPARED.items() if names in found}
    return {**several, **found}


def training_flags(commands: Any, arguments: Sequence[str]) -> dict[str, str]:
    """The flags of `train`, as commands that read a run may ask for another training.

    A command that trains has its own flags, and no others.
    """
    found: dict[str, str] = {}
    if arguments[:1] in (["train"], ["compare"]):
        return found
    for command in commands.commands["train"].commands.values():
        found |= own_flags(command)
    return found


def own_flags(command: Any) -> dict[str, str]:
    """The flags of one command."""
    found: dict[str, str] = {}
    for parameter in command.params:
        for flag in (option for option in parameter.opts if option.startswith("--")):
            found |= {parameter.name: flag, flag[2:].replace("-", "_"): flag}
    return found


def with_flags(
    error: ValueError,
    flags: Mapping[str, str],
    arguments: Sequence[str] = (),
    elsewhere: Mapping[str, str] | None = None,
) -> str:
    """A message with flags for the settings that it names, and for those that would fix it.

    Names that the command has no flag for may have one `elsewhere`. A message about the
    config.json of a run keeps the names that are in the file. One about a file of settings does
    so too, except for settings among the arguments: their values come from there.

    >>> flags = {"width": "--width", "clip": "--clip"}
    >>> with_flags(ValueError("`learning.width` must be at least 1, got 0."), flags)
    '--width must be at least 1, got 0.'
    >>> with_flags(ValueError("Give `clip=5`, `width` = 8 or `strict=True`."), flags)
    'Give --clip 5, --width 8 or `strict=True`.'
    """
    message, file = str(error), f"{value_of('--config', arguments)}: "
    if re.match(r"[^`]*\bconfig\.json: ", message):
        return message
    given = {word.partition("=")[0] for word in arguments}
    known = {**(elsewhere or {}), **flags}
    if message.startswith(file):
        known = {name: flag for name, flag in known.items() if flag in given}

    def flag(found: re.Match[str]) -> str:
        if found["name"] not in known:
            return found[0]
        value = found["value"] or found["after"]
        return known[found["name"]] + ("" if value in (None, "True") else f" {value}")

    message = SETTING.sub(flag, message)
    if message.startswith(f"{file}--"):
        message = message.removeprefix(file)
    fixes = [flags[name] for name in getattr(error, "settings", ()) if name in flags]
    missing = [one for one in fixes if not re.search(rf"{one}\b", message)]
    return f"{message} (See {' and '.join(missing)}.)" if missing else message


def value_of(flag: str, arguments: Sequence[str]) -> str | None:
    """What a flag is given among the arguments; None if it is not there.

    >>> value_of("--config", ["--config", "my.toml"]), value_of("--config", ["--config=my.toml"])
    ('my.toml', 'my.toml')
    """
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name == flag:
            return value if equals else next(words, None)
    return None
