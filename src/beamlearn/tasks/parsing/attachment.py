"""Attachment scores: how many words have their right head and relation."""

from collections.abc import Sequence
from dataclasses import dataclass

from .tree import Tree


@dataclass(frozen=True)
class Attachment:
    """Shares of words; relations count as they are written, with their subtypes."""

    uas: float
    """Right heads."""
    las: float
    """Right heads with right relations."""
    uas_without_punctuation: float
    las_without_punctuation: float
    conll18_las: float
    """The CoNLL 2018 shared task's LAS: subtypes of relations (after ':') do not count."""
    tree_accuracy: float
    """The share of sentences without an error."""


def attachment(right: Sequence[Tree], found: Sequence[Tree]) -> Attachment:
    """Compare trees over the same words.

    Punctuation is what has the relation `punct` in the right tree.
    """
    words = [
        (gold, guess)
        for one, two in zip(right, found, strict=True)
        for gold, guess in zip(arcs_of(one), arcs_of(two), strict=True)
    ]
    spoken = [(gold, guess) for gold, guess in words if universal(gold[1]) != "punct"]
    return Attachment(
        uas=share([gold[0] == guess[0] for gold, guess in words]),
        las=share([gold == guess for gold, guess in words]),
        uas_without_punctuation=share([gold[0] == guess[0] for gold, guess in spoken]),
        las_without_punctuation=share([gold == guess for gold, guess in spoken]),
        conll18_las=share(
            [(h, universal(r)) == (other, universal(s)) for (h, r), (other, s) in words]
        ),
        tree_accuracy=share([one == two for one, two in zip(right, found, strict=True)]),
    )


def arcs_of(tree: Tree) -> list[tuple[int, str]]:
    """The head and the relation of each word."""
    return list(zip(tree.heads, tree.relations, strict=True))


def universal(relation: str) -> str:
    """A relation without its subtype.

    >>> universal("nmod:poss")
    'nmod'
    """
    return relation.partition(":")[0]


def share(right: Sequence[bool]) -> float:
    """The share of what is right; 0 of nothing."""
    return sum(right) / len(right) if right else 0.0
