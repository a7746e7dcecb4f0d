"""Part: some of the windows of an input, for jobs that share it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.windows import Mark
from .journal import ResumeError

WRITTEN = re.compile(r"(?P<number>[0-9]+)/(?P<count>[0-9]+)")
NAME = re.compile(r"(?P<whole>.+)\.part-[0-9]+-of-[0-9]+")


@dataclass(frozen=True)
class Part:
    """One of `count` parts, numbered from 1."""

    number: int
    count: int

    def path(self, whole: Path) -> Path:
        """Where its answers go.

        >>> Part(3, 16).path(Path("tagged.conllu")).name
        'tagged.conllu.part-03-of-16'
        """
        digits = len(str(self.count))
        return whole.with_name(f"{whole.name}.part-{self.number:0{digits}}-of-{self.count}")

    def bounds(self, marks: Sequence[Mark]) -> tuple[Mark, Mark]:
        """Where it begins and ends, if windows begin and end at these places.

        >>> marks = [Mark(place) for place in range(6)]
        >>> [[mark.place for mark in Part(number, 3).bounds(marks)] for number in (1, 2, 3)]
        [[0, 1], [1, 3], [3, 5]]
        """
        windows = len(marks) - 1
        first, last = (windows * number // self.count for number in (self.number - 1, self.number))
        return marks[first], marks[last]


def part_of(written: str) -> Part:
    """A part as people write it, "3/16".

    >>> part_of("3/16")
    Part(number=3, count=16)
    """
    found = WRITTEN.fullmatch(written)
    part = Part(int(found["number"]), int(found["count"])) if found else None
    if part is None or not 1 <= part.number <= part.count:
        raise ResumeError(
            f"`part` must be a number from 1 to the number of parts, a slash and that number, such "
            f"as 3/16, got {written!r}."
        )
    return part


def parts_beside(whole: Path) -> list[Path]:
    """The files, whole or not, that have names of parts of an output."""
    names = {path.name.removesuffix(".journal") for path in whole.parent.iterdir()}
    found = (
        name for name in names if (match := NAME.fullmatch(name)) and match["whole"] == whole.name
    )
    return sorted(map(whole.with_name, found))
