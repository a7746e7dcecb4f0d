"""Sentences with their tags, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...data.document import labeled_windows, read_document
from ...data.packed import taken
from ...data.packed_file import nothing_in, packed_file
from ..data import fingerprint
from .settings import Layout

Lists = Sequence[list[str]]
"""In memory, or packed in files."""


@dataclass(frozen=True)
class TaggedSentences:
    """Words and their right tags."""

    words: Lists
    tags: Lists

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "TaggedSentences":
        """The sentences at these places."""
        return TaggedSentences(taken(self.words, places), taken(self.tags, places))

    @property
    def digest(self) -> str:
        """A fingerprint of the words and tags."""
        return fingerprint(self.words, self.tags)


def read_sentences(path: str, column: str, layout: Layout = "auto") -> TaggedSentences:
    """Read a file with right tags in it."""
    document = read_document(path, layout)
    sentences = TaggedSentences(document.words(), document.column(column))
    if not len(sentences):
        raise nothing_in(document.path, "sentence")
    return sentences


def packed_sentences(path: str, column: str, layout: Layout, cache: Path) -> TaggedSentences:
    """Read a file that may be larger than memory: its sentences are packed into `cache`."""
    windows = labeled_windows(path, column, layout)
    made_with = {"column": column, "layout": layout}
    words, tags = packed_file(path, cache, made_with, ("words", "tags"), windows, "sentence")
    return TaggedSentences(words, tags)
