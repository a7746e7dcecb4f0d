"""Sentences with their tags, and how they are read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...data.document import labeled_windows, read_document
from ...data.kept import kept
from ...data.packed import PackedLists, Packing
from ...data.text import DataError
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
        sha = sha256()
        for part in ("(", *written(self.words), ", ", *written(self.tags), ")"):
            sha.update(part.encode())
        return sha.hexdigest()


def taken(lists: Lists, places: Sequence[int]) -> Lists:
    """Some of the lists; packed ones stay packed."""
    return lists.take(places) if isinstance(lists, PackedLists) else [lists[i] for i in places]


def written(lists: Iterable[list[str]]) -> Iterator[str]:
    """The text of a list of lists, part by part.

    >>> "".join(written([["a", "b"], []]))
    "[['a', 'b'], []]"
    """
    between = "["
    for strings in lists:
        yield between + repr(strings)
        between = ", "
    yield "]" if between == ", " else "[]"


def read_sentences(path: str, column: str, layout: Layout = "auto") -> TaggedSentences:
    """Read a file with right tags in it."""
    document = read_document(path, layout)
    sentences = TaggedSentences(document.words(), document.column(column))
    if not len(sentences):
        raise DataError(f"{document.path}: The file must have at least one sentence, got none.")
    return sentences


def packed_sentences(path: str, column: str, layout: Layout, cache: Path) -> TaggedSentences:
    """Read a file that may be larger than memory: its sentences are packed into `cache`."""

    def pack(folder: Path) -> None:
        with Packing(folder, "words") as words, Packing(folder, "tags") as tags:
            for sentences, labels in labeled_windows(path, column, layout):
                words.add(sentences)
                tags.add(labels)
        if not words.ends:
            raise DataError(f"{path}: The file must have at least one sentence, got none.")

    kept(cache, path, {"column": column, "layout": layout}, pack)
    return TaggedSentences(PackedLists.open(cache, "words"), PackedLists.open(cache, "tags"))
