"""Sentences with their tags: where they are, and how they are read and split."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from pydantic import Field

from ...data.document import read_document
from ...data.text import DataError
from ...settings import Settings

Layout = Literal["auto", "conllu", "columns"]
HELD_OUT = 10
"""Without a validation file, every tenth sentence is held out."""


class DataSettings(Settings):
    """Where the sentences are."""

    train: str
    """The file to learn from: CoNLL-U or columns, plain or .gz."""
    dev: str | None = None
    """The file to validate on; without one, every tenth sentence is held out."""
    column: str = "upos"
    """The labels: upos, xpos, feats, supertag or the number of a column."""
    layout: Layout = "auto"
    """What the files look like."""
    limit: int | None = Field(default=None, ge=1)
    """Use only so many sentences of the training file."""


@dataclass(frozen=True)
class Sentences:
    """Words and their right tags."""

    words: list[list[str]]
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "Sentences":
        """Some of them."""
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
        raise DataError(f"{document.path}: Sentences were expected, but the file has none.")
    return sentences


def read_data(data: DataSettings) -> tuple[Sentences, Sentences]:
    """The sentences to learn from and those to validate on."""
    train = read_sentences(data.train, data.column, data.layout)
    if data.limit is not None:
        train = train.take(range(min(data.limit, len(train))))
    if data.dev is not None:
        return train, read_sentences(data.dev, data.column, data.layout)
    if len(train) < 2:
        raise DataError(
            f"{data.train}: Without a validation file at least 2 sentences are needed, but 1 came; "
            "give --dev."
        )
    return hold_out(train)


def hold_out(sentences: Sentences) -> tuple[Sentences, Sentences]:
    """Split off every tenth sentence."""
    places = range(len(sentences))
    return (
        sentences.take([i for i in places if i % HELD_OUT]),
        sentences.take([i for i in places if i % HELD_OUT == 0]),
    )
