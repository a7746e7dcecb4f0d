"""Marked: an output beside the right one, with the parts that differ marked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .label_errors import Pair


@dataclass(frozen=True)
class Part:
    """A part of a text."""

    text: str
    same: bool = True
    """Does the other text have it, too?"""


@dataclass(frozen=True)
class Marked:
    """The right output and that of a model, part by part."""

    right: tuple[Part, ...]
    output: tuple[Part, ...]
    gap: str = " "
    """What stands between parts."""

    @classmethod
    def of(cls, pairs: Iterable[Pair], gap: str = " ") -> "Marked":
        """Mark what differs in pairs of right parts and those of the output.

        >>> found = Marked.of([("D", "D"), ("N", "V"), (None, "X")])
        >>> [part.text for part in found.output if not part.same]
        ['V', 'X']
        """
        pairs = list(pairs)
        return cls(
            tuple(Part(right, right == found) for right, found in pairs if right is not None),
            tuple(Part(found, right == found) for right, found in pairs if found is not None),
            gap,
        )


def unmarked(right: str | None, output: Sequence[str]) -> Marked:
    """An output that nothing is compared with."""
    return Marked(() if right is None else (Part(right),), tuple(map(Part, output)))
