"""Sentences and trees in Python lists."""
# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from ...data.text import DataError
from ...data.trees import fault, possible, wrong_head
from ..lists import Lists, check_equally_many, check_words, sentences_of, words_of
from .projective import unmarkable
from .sentences import ParsedSentences
from .tree import Tree

Tagged = Iterable[Iterable[tuple[str, str]]]
"""The words of each sentence, each with its tag."""
Trees = Iterable[Iterable[tuple[int, str]]]
"""The head and the relation of each word of each sentence."""
WORD, ARC = "(word, tag) pair", "(head, relation) pair"


def pairs_of(
    X: Lists | Tagged, y: Trees, tagged: bool, x_name: str = "X", y_name: str = "y"
) -> ParsedSentences:
    """Check that every sentence has a tree over its words, and that there is a word."""
    words, tags = inputs_of(X, tagged, x_name)
    trees = sentences_of(y, y_name, ARC)
    check_equally_many(words, trees, x_name, y_name)
    for i, (sentence, arcs) in enumerate(zip(words, trees, strict=True)):
        if len(sentence) != len(arcs):
            raise DataError(
                f"`{x_name}[{i}]` and `{y_name}[{i}]` must be equally long, got {len(sentence)} "
                f"and {len(arcs)}; give a head and a relation for each word."
            )
    check_words(words, x_name)
    found = [tree_of(arcs, f"{y_name}[{i}]") for i, arcs in enumerate(trees)]
    return ParsedSentences(words, found, tags)


def inputs_of(
    X: Any, tagged: bool, name: str = "X"
) -> tuple[list[list[str]], list[list[str]] | None]:
    """The words of each sentence, and their tags if `X` is tagged."""
    if not tagged:
        return words_of(X, name), None
    sentences = [
        [texts_of(pair, f"{name}[{i}][{j}]") for j, pair in enumerate(sentence)]
        for i, sentence in enumerate(sentences_of(X, name, WORD))
    ]
    words, tags = ([[pair[side] for pair in s] for s in sentences] for side in (0, 1))
    return words, tags


def two_of(pair: Any, name: str, required: str) -> tuple[Any, Any]:
    """Read a pair."""
    parts = list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str | bytes) else []
    if len(parts) != 2:
        raise DataError(f"`{name}` must be a {required}, got {pair!r:.60}.")
    return parts[0], parts[1]


def texts_of(pair: Any, name: str) -> tuple[str, str]:
    """Read a word and its tag."""
    word, tag = two_of(pair, name, WORD)
    if not isinstance(word, str) or not isinstance(tag, str):
        raise DataError(f"`{name}` must be a {WORD}, both strings, got {pair!r:.60}.")
    return str(word), str(tag)


def tree_of(pairs: Sequence[Any], name: str) -> Tree:
    """Read the heads and the relations of a sentence; they must be a tree with one root."""
    arcs = [
        arc_of(pair, word, len(pairs), f"{name}[{word - 1}]") for word, pair in enumerate(pairs, 1)
    ]
    heads = tuple(head for head, _ in arcs)
    if wrong := fault(heads):
        raise DataError(f"`{name}`: {wrong[1]}; correct the heads.")
    return Tree(heads, tuple(relation for _, relation in arcs))


def arc_of(pair: Any, word: int, length: int, name: str) -> tuple[int, str]:
    """Read the head and the relation of a word."""
    given, relation = two_of(pair, name, ARC)
    try:
        head = index(given)
    except TypeError:
        head = -1
    if not possible(head, word, length):
        raise DataError(f"`{name}`: {wrong_head(given, word, length)}; count words from 1.")
    if not isinstance(relation, str):
        raise DataError(f"`{name}` must have a relation as a string, got {relation!r:.60}.")
    if relation == "_" or any(character in relation for character in "\t\n\r"):
        raise DataError(
            f"`{name}` must have a relation that can be written to CoNLL-U, without tabs and line "
            f"breaks and not '_', got {relation!r:.60}; rename it."
        )
    if reason := unmarkable(relation):
        raise DataError(f"`{name}`: {reason}; rename it.")
    return head, str(relation)
