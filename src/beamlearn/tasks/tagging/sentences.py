"""Sentences with their tags, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from ...data.document import read_document
from ...data.text import DataError
from .settings import Layout


@dataclass(frozen=True)
class TaggedSentences:
    """Words and their right tags."""

    words: list[list[str]]
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "TaggedSentences":
        """The sentences at these places."""
        return TaggedSentences([self.words[i] for i in places], [self.tags[i] for i in places])

    @property
    def digest(self) -> str:
        """A fingerprint of the words and tags."""
        return sha256(repr((self.words, self.tags)).encode()).hexdigest()


def read_sentences(path: str, column: str, layout: Layout = "auto") -> TaggedSentences:
    """Read a file with right tags in it."""
    document = read_document(path, layout)
    sentences = TaggedSentences(document.words(), document.column(column))
    if not len(sentences):
        raise DataError(f"{document.path}: The file must have at least one sentence, got none.")
    return sentences
