"""Sentences with their trees, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from ...data.document import NAMED, Document, read_document
from ...data.text import DataError
from .projective import unmarkable
from .tree import Tree


@dataclass(frozen=True)
class ParsedSentences:
    """Words, their right trees and, where a parser looks at them, their tags."""

    words: list[list[str]]
    trees: list[Tree]
    tags: list[list[str]] | None = None

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "ParsedSentences":
        """The sentences at these places."""
        tags = None if self.tags is None else [self.tags[i] for i in places]
        return ParsedSentences(
            [self.words[i] for i in places], [self.trees[i] for i in places], tags
        )

    @property
    def digest(self) -> str:
        """A fingerprint of words, trees and tags."""
        trees = [(tree.heads, tree.relations) for tree in self.trees]
        return sha256(repr((self.words, trees, self.tags)).encode()).hexdigest()


def read_sentences(path: str, tags: str) -> ParsedSentences:
    """Read a CoNLL-U file with right trees in it, and the column `tags` unless that is "none"."""
    document = read_document(path, "conllu")
    trees = [Tree(tuple(heads), tuple(relations)) for heads, relations in document.trees()]
    if not trees:
        raise DataError(f"{document.path}: The file must have at least one sentence, got none.")
    for sentence, tree in zip(document.sentences, trees, strict=True):
        for row, relation in zip(sentence, tree.relations, strict=True):
            if reason := unmarkable(relation):
                raise DataError(f"{document.path}:{row.line}: {reason}; rename it.")
    return ParsedSentences(document.words(), trees, tags_of(document, tags))


def tags_of(document: Document, tags: str) -> list[list[str]] | None:
    """The column that a parser looks at, if it does: a tag for every word."""
    if tags == "none":
        return None
    found = document.fields(NAMED[tags])
    for sentence, names in zip(document.sentences, found, strict=True):
        for row, name in zip(sentence, names, strict=True):
            if name in ("", "_"):
                raise DataError(
                    f"{document.path}:{row.line}: This parser needs a tag in column "
                    f"{tags.upper()}, got {name!r}; tag the file first, or train a parser without "
                    "tags."
                )
    return found
