"""Parts of a comparison, for jobs that share its folder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..training.settings import SettingsError

Item = TypeVar("Item")


@dataclass(frozen=True)
class Part:
    """Every so-manieth training, from a place on.

    >>> Part(2, 3).of("abcdefg")
    ['b', 'e']
    """

    number: int
    """From 1 on."""
    parts: int

    @classmethod
    def read(cls, text: str) -> "Part":
        """Read I/N, as in 2/8.

        >>> Part.read("2/8")
        Part(number=2, parts=8)
        """
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise SettingsError(
                f"`part` must be the number of a part and how many there are, as in 1/8 to 8/8, "
                f"got {text!r}."
            )
        return cls(int(found[1]), int(found[2]))

    def of(self, items: Sequence[Item]) -> list[Item]:
        """What belongs to this part; together, all parts have each item once."""
        return list(items[self.number - 1 :: self.parts])

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"
