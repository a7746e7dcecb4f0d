"""Which relations a parser gets wrong."""

from collections import Counter
from collections.abc import Sequence

from ...evaluation.label_errors import LabelErrors, Pair, confusions_in, scores_of
from .attachment import arcs_of
from .tree import Tree


def label_errors(right: Sequence[Tree], found: Sequence[Tree]) -> LabelErrors:
    """Compare trees over the same words, relation by relation.

    A labeled arc is right if its head and its relation are; an unlabeled one if its head is, and
    it counts for the relation that it has on each side.
    """
    gold, predicted, labeled = Counter[str](), Counter[str](), Counter[str]()
    found_heads, right_heads = Counter[str](), Counter[str]()
    pairs: list[Pair] = []
    for one, two in zip(right, found, strict=True):
        for (head, relation), (guess, name) in zip(arcs_of(one), arcs_of(two), strict=True):
            gold[relation] += 1
            predicted[name] += 1
            labeled[relation] += (head, relation) == (guess, name)
            found_heads[relation] += head == guess
            right_heads[name] += head == guess
            pairs.append((relation, name))
    scores = {
        "relation": scores_of(gold, predicted, labeled, labeled),
        "relation, head alone": scores_of(gold, predicted, found_heads, right_heads),
    }
    return LabelErrors(scores, confusions_in(pairs))
