"""Part: one of several shares of some work, for jobs that know nothing of each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..check import UsageError

Item = TypeVar("Item")
WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True)
class Part:
    """One of `count` parts, numbered from 1."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> "Part":
        """Read I/N, as people write it.

        >>> Part.read("3/16")
        Part(number=3, count=16)
        """
        found = WRITTEN.fullmatch(text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise UsageError(
                "`part` must be a number from 1 to the number of parts, a slash and that number, "
                f"such as 3/16, got {text!r}."
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Every so-manieth item; together, all parts have each one once.

        >>> Part(2, 3).of("abcdefg")
        ['b', 'e']
        """
        return list(items[self.number - 1 :: self.count])
