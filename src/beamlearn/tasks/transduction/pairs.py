"""Sources with their references, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ...data.packed import Packed, PackedItems, PackedLists, taken
from ...data.packed_file import nothing_in, packed_file
from ...data.pairs import Allowed, merged, pair_windows, read_references
from ...data.text import name_of
from ..data import fingerprint

BETWEEN = "\t"
"""What stands between references in a file, and therefore in none of them."""


@dataclass(frozen=True)
class Pairs:
    """Sources and their right outputs, as text."""

    sources: Sequence[str]
    references: Sequence[tuple[str, ...]]
    """One or more of each source, all equally good."""
    places: Sequence[str]
    """Where each comes from, for messages: "file:line"."""

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def words(self) -> list[list[str]]:
        """Each source uncut, as a sentence of one word.

        An empty source is data like any other; as a sentence without words it would be left
        out.
        """
        return [[source] for source in self.sources]

    def take(self, places: Sequence[int]) -> "Pairs":
        """The pairs at these places."""
        return Pairs(
            taken(self.sources, places),
            taken(self.references, places),
            taken(self.places, places),
        )

    @property
    def digest(self) -> str:
        """A fingerprint of the text, wherever it comes from."""
        return fingerprint(self.sources, self.references)


def read_pairs(path: str, references: Allowed = "one", *, merge: bool = False) -> Pairs:
    """Read a file with right outputs in it.

    A source that stands on several lines is several examples. With `merge` it is one, with all
    its references: what an evaluation may want, where any of them is right.
    """
    found, name = read_references(path, references), name_of(path)
    if not found:
        raise nothing_in(name, "pair")
    if merge:
        found = merged(found)
    return Pairs(
        [pair.source for pair in found],
        [pair.references for pair in found],
        [f"{name}:{pair.line}" for pair in found],
    )


def packed_pairs(path: str, references: Allowed, cache: Path) -> Pairs:
    """Read a file that may be larger than memory: its pairs are packed into `cache`."""
    windows = (
        ([pair.source for pair in pairs], [BETWEEN.join(pair.references) for pair in pairs])
        for pairs in pair_windows(path, references)
    )
    made_with, names = {"references": references}, ("sources", "references")
    sources, right = packed_file(path, cache, made_with, names, windows, "pair")
    return Pairs(
        PackedItems("".join, sources), PackedItems(references_of, right), Places(path, sources)
    )


def references_of(characters: Sequence[str]) -> tuple[str, ...]:
    """References from the characters of all of them."""
    return tuple("".join(characters).split(BETWEEN))


@final
@dataclass(frozen=True)
class Places(Packed[str]):
    """Where packed pairs come from, if every line of the file is one."""

    path: str
    lists: PackedLists

    def __len__(self) -> int:
        return len(self.lists)

    def item(self, place: int) -> str:
        return f"{self.path}:{self.lists.places[place] + 1}"

    def take(self, places: Sequence[int]) -> "Places":
        return Places(self.path, self.lists.take(places))
