"""Names of repositories: `hub:USER/NAME`, maybe with `@REVISION`."""

import re
from dataclasses import dataclass
from pathlib import Path

from ..check import UsageError, quoted

PREFIX = "hub:"
NAME = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)(@(?P<revision>[\w./-]+))?", re.ASCII)


@dataclass(frozen=True)
class Repository:
    """A repository, and which of its versions."""

    name: str
    revision: str | None = None
    """A branch, a tag or a commit; None: the newest."""

    @classmethod
    def read(cls, text: str) -> "Repository":
        """Read a name, with or without its prefix.

        >>> Repository.read("hub:ann/tagger@v1")
        Repository(name='ann/tagger', revision='v1')
        """
        found = NAME.fullmatch(text.removeprefix(PREFIX))
        if found is None:
            raise UsageError(
                f"A repository must be named USER/NAME, got {quoted(text)}; use letters, digits, "
                "and - _ . only."
            )
        return cls(found["repo"], found["revision"])


def is_named(path: str | Path) -> bool:
    """Is it a repository that is meant, not a folder?

    >>> is_named("hub:ann/tagger"), is_named("runs/tagger")
    (True, False)
    """
    return str(path).startswith(PREFIX)
