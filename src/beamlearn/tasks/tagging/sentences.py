"""Sentences with their tags: where they are, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from ...data.document import read_document
from ...data.text import DataError
from ..settings import Files

Layout = Literal["auto", "conllu", "columns"]


class DataSettings(Files):
    """Where the sentences are, and their tags in them."""

    train: str
    """The file to learn from: CoNLL-U or columns, plain or .gz."""
    column: str = "upos"
    """The labels: upos, xpos, feats, supertag or the number of a column."""
    layout: Layout = "auto"
    """What the files look like."""


@dataclass(frozen=True)
class Sentences:
    """Words and their right tags."""

    words: list[list[str]]
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "Sentences":
        """The sentences at these places."""
        return Sentences([self.words[i] for i in places], [self.tags[i] for i in places])

    @property
    def digest(self) -> str:
        """A fingerprint of the words and tags."""
        return sha256(repr((self.words, self.tags)).encode()).hexdigest()


def read_sentences(path: str, column: str, layout: Layout = "auto") -> Sentences:
    """Read a file with right tags in it."""
    document = read_document(path, layout)
    sentences = Sentences(document.words(), document.column(column))
    if not len(sentences):
        raise DataError(f"{document.path}: The file must have at least one sentence, got none.")
    return sentences
