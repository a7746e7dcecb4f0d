"""Sentences with their trees, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...data.document import NAMED, Document, document_windows, read_document
from ...data.packed import PackedItems, taken
from ...data.packed_file import Lists, nothing_in, packed_file
from ...data.text import DataError, name_of
from ..data import fingerprint
from .projective import unmarkable
from .tree import Tree


@dataclass(frozen=True)
class ParsedSentences:
    """Words, their right trees and, where a parser looks at them, their tags."""

    words: Sequence[list[str]]
    trees: Sequence[Tree]
    tags: Sequence[list[str]] | None = None

    def __len__(self) -> int:
        return len(self.words)

    def take(self, places: Sequence[int]) -> "ParsedSentences":
        """The sentences at these places."""
        tags = None if self.tags is None else taken(self.tags, places)
        return ParsedSentences(taken(self.words, places), taken(self.trees, places), tags)

    @property
    def digest(self) -> str:
        """A fingerprint of words, trees and tags."""
        trees = ((tree.heads, tree.relations) for tree in self.trees)
        return fingerprint(self.words, trees, self.tags)


def read_sentences(path: str, tags: str) -> ParsedSentences:
    """Read a CoNLL-U file with right trees in it, and the column `tags` unless that is "none"."""
    sentences = sentences_in(read_document(path, "conllu"), tags)
    if not len(sentences):
        raise nothing_in(name_of(path), "sentence")
    return sentences


def packed_sentences(path: str, tags: str, cache: Path) -> ParsedSentences:
    """Read a file that may be larger than memory: its sentences are packed into `cache`."""
    names = ["words", "heads", "relations"] + ["tags"] * (tags != "none")
    parts = (columns(sentences_in(part, tags)) for part in document_windows(path, "conllu"))
    packed = packed_file(path, cache, {"tags": tags}, names, parts, "sentence")
    words, heads, relations, *seen = packed
    return ParsedSentences(words, PackedItems(tree_of, heads, relations), *seen)


def columns(sentences: ParsedSentences) -> list[Lists]:
    """Words, heads, relations and, where there are some, tags as strings."""
    heads = [[str(head) for head in tree.heads] for tree in sentences.trees]
    found: list[Lists] = [sentences.words, heads, [tree.relations for tree in sentences.trees]]
    return found if sentences.tags is None else [*found, sentences.tags]


def tree_of(heads: Sequence[str], relations: Sequence[str]) -> Tree:
    """A tree of such columns."""
    return Tree(tuple(map(int, heads)), tuple(relations))


def sentences_in(document: Document, tags: str) -> ParsedSentences:
    """The sentences of a document, or of a part of it; relations must be such as can be marked."""
    trees = [Tree(tuple(heads), tuple(relations)) for heads, relations in document.trees()]
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
