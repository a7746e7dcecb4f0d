"""Spans written as BIO tags: which tag may follow which, and how well spans are found."""

from collections.abc import Iterable, Sequence

from jaxtyping import Bool
from torch import Tensor

from ...search.automaton import Automaton


def is_bio(tags: Sequence[str]) -> bool:
    """Are all tags O, B-... or I-..., and at least one a B-?

    >>> is_bio(["O", "B-LOC", "I-LOC"]), is_bio(["NOUN", "O"])
    (True, False)
    """
    parts = [tag.partition("-") for tag in tags]
    proper = all(
        tag == "O" or (head in ("B", "I") and dash and kind)
        for tag, (head, dash, kind) in zip(tags, parts, strict=True)
    )
    return proper and any(tag.startswith("B-") for tag in tags)


def legal_pairs(tags: Sequence[str]) -> tuple[Bool[Tensor, "tags tags"], Bool[Tensor, " tags"]]:
    """Which tag may follow which, and which may come first: I-X continues an X, never begins one.

    >>> pairs, first = legal_pairs(["B-X", "I-X", "O"])
    >>> pairs.tolist(), first.tolist()
    ([[True, True, True], [True, True, True], [True, False, True]], [True, False, True])
    """
    table = Automaton.bio(tags).table
    legal, after = table >= 0, table.amax(dim=0)  # which does not depend on the state before
    return legal[after], legal[0]


def check_scheme(tags: Iterable[Sequence[str]]) -> None:
    """Refuse tags that begin many spans with I-, as the older scheme IOB1 does.

    Constraints would take the right tags of such spans for illegal.
    """
    begun = broken = 0
    for sentence in tags:
        for before, tag in zip(["O", *sentence], sentence, strict=False):
            inside = tag.startswith("I-")
            broken += inside and before[1:] != tag[1:]
            begun += tag.startswith("B-")
    if broken > 0.1 * (begun + broken):
        raise ValueError(
            f"`constrained` needs spans that begin with B-, but {broken} of {begun + broken} spans "
            "in the training data begin with I-, as in the scheme IOB1; convert them, or leave "
            "`constrained` off."
        )


def spans_in(tags: Sequence[str]) -> set[tuple[str, int, int]]:
    """The type, the first and the last word of each span (seqeval, as conlleval counts).

    >>> sorted(spans_in(["B-LOC", "I-LOC", "O", "I-PER"]))
    [('LOC', 0, 1), ('PER', 3, 3)]
    """
    from seqeval.metrics.sequence_labeling import get_entities

    return set(get_entities(list(tags)))


def span_scores(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """F1, precision and recall of whole spans (seqeval, as conlleval counts)."""
    # Imported here because it brings scikit-learn, which takes seconds to load.
    from seqeval.metrics import f1_score, precision_score, recall_score

    measures = {"f1": f1_score, "precision": precision_score, "recall": recall_score}
    lists = [list(map(list, side)) for side in (gold, found)]
    return {name: float(measure(*lists, zero_division=0)) for name, measure in measures.items()}
