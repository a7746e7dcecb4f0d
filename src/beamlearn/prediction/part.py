"""Parts of an output: where they go, and which windows they answer."""

import re
from collections.abc import Sequence
from pathlib import Path

from ..data.windows import Mark
from ..engines.part import Part

NAME = re.compile(r"(?P<whole>.+)\.part-[0-9]+-of-[0-9]+")


def path_of(part: Part, whole: Path) -> Path:
    """Where the answers of a part go.

    >>> path_of(Part(3, 16), Path("tagged.conllu")).name
    'tagged.conllu.part-03-of-16'
    """
    digits = len(str(part.count))
    return whole.with_name(f"{whole.name}.part-{part.number:0{digits}}-of-{part.count}")


def bounds(part: Part, marks: Sequence[Mark]) -> tuple[Mark, Mark]:
    """Where a part begins and ends, if windows begin and end at these places.

    >>> marks = [Mark(place) for place in range(6)]
    >>> [[mark.place for mark in bounds(Part(number, 3), marks)] for number in (1, 2, 3)]
    [[0, 1], [1, 3], [3, 5]]
    """
    windows = len(marks) - 1
    first, last = (windows * number // part.count for number in (part.number - 1, part.number))
    return marks[first], marks[last]


def parts_beside(whole: Path) -> list[Path]:
    """The files, whole or not, that have names of parts of an output."""
    names = {path.name.removesuffix(".journal") for path in whole.parent.iterdir()}
    found = (
        name for name in names if (match := NAME.fullmatch(name)) and match["whole"] == whole.name
    )
    return sorted(map(whole.with_name, found))
