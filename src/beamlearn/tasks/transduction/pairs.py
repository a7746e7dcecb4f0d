"""Sources with their references, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from ...data.pairs import Allowed, merged, read_references
from ...data.text import DataError, name_of


@dataclass(frozen=True)
class Pairs:
    """Sources and their right outputs, as text."""

    sources: list[str]
    references: list[tuple[str, ...]]
    """One or more of each source, all equally good."""
    places: list[str]
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
            [self.sources[i] for i in places],
            [self.references[i] for i in places],
            [self.places[i] for i in places],
        )

    @property
    def digest(self) -> str:
        """A fingerprint of the text, wherever it comes from."""
        return sha256(repr((self.sources, self.references)).encode()).hexdigest()


def read_pairs(path: str, references: Allowed = "one", *, merge: bool = False) -> Pairs:
    """Read a file with right outputs in it.

    A source that stands on several lines is several examples. With `merge` it is one, with all
    its references: what an evaluation may want, where any of them is right.
    """
    found, name = read_references(path, references), name_of(path)
    if not found:
        raise DataError(f"{name}: The file must have at least one pair, got none.")
    if merge:
        found = merged(found)
    return Pairs(
        [pair.source for pair in found],
        [pair.references for pair in found],
        [f"{name}:{pair.line}" for pair in found],
    )
