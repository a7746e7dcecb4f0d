"""Which tags, and which types of spans, a tagger gets wrong."""

from collections import Counter
from collections.abc import Sequence

from ...evaluation.label_errors import (
    LabelErrors,
    LabelScore,
    Pair,
    confusions_in,
    label_scores,
    scores_of,
)
from .bio import spans_in

Tags = Sequence[Sequence[str]]


def label_errors(gold: Tags, found: Tags, *, bio: bool) -> LabelErrors:
    """Compare tags, and types of spans if they are BIO."""
    pairs: list[Pair] = [
        pair
        for right, guess in zip(gold, found, strict=True)
        for pair in zip(right, guess, strict=True)
    ]
    spans = {"entity": span_types(gold, found)} if bio else {}
    return LabelErrors({**spans, "tag": label_scores(pairs)}, confusions_in(pairs))


def span_types(gold: Tags, found: Tags) -> list[LabelScore]:
    """Score the spans of each type: one is right if its type and both its ends are."""
    counts = Counter[str](), Counter[str](), Counter[str]()
    for right, guess in zip(gold, found, strict=True):
        spans, guessed = spans_in(right), spans_in(guess)
        for count, some in zip(counts, (spans, guessed, spans & guessed), strict=True):
            count.update(kind for kind, _, _ in some)
    right_spans, guessed_spans, same = counts
    return scores_of(right_spans, guessed_spans, same, same)
