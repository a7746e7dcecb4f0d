"""Label errors: how well each label is found, and which are taken for which."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Pair = tuple[str | None, str | None]
"""A right label and the predicted one; None where there is nothing on that side."""


@dataclass(frozen=True)
class LabelScore:
    """How well one label is found."""

    label: str
    gold: int
    """How often it is right."""
    predicted: int
    """How often it was predicted."""
    found: int
    """How many of the right ones were found."""
    correct: int
    """How many of the predicted ones are right; the same, unless only a part is compared."""

    @property
    def precision(self) -> float:
        """The share of the predicted ones that are right; 0 if there are none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the right ones that were found; 0 if there are none."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        >>> LabelScore("NOUN", gold=4, predicted=2, found=2, correct=2).f1
        0.6666666666666666
        """
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def errors(self) -> int:
        """How often it was missed or predicted wrongly."""
        return self.gold - self.found + self.predicted - self.correct

    def to_json(self) -> dict[str, Any]:
        """Precision, recall and F1, and what they are computed from."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {"label": self.label, **rates, "gold": self.gold, "predicted": self.predicted}


@dataclass(frozen=True)
class Confusion:
    """A label that was predicted in place of another."""

    gold: str | None
    """None: there should be nothing."""
    predicted: str | None
    """None: nothing was predicted."""
    count: int


@dataclass(frozen=True)
class LabelErrors:
    """Where a model goes wrong, label by label."""

    scores: Mapping[str, Sequence[LabelScore]]
    """By what the labels are of, those with the most errors first."""
    confusions: Sequence[Confusion]
    """The most frequent first."""

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        return {
            "labels": {
                kind: [score.to_json() for score in scores] for kind, scores in self.scores.items()
            },
            "confusions": [vars(confusion) for confusion in self.confusions],
        }


def label_scores(pairs: Iterable[Pair]) -> list[LabelScore]:
    """Score every label in pairs of right and predicted labels.

    >>> [(one.label, one.precision, one.recall) for one in label_scores([("N", "V"), ("V", "V")])]
    [('N', 0.0, 0.0), ('V', 0.5, 1.0)]
    """
    gold, predicted, same = Counter[str](), Counter[str](), Counter[str]()
    for right, guess in pairs:
        if right is not None:
            gold[right] += 1
            same[right] += right == guess
        if guess is not None:
            predicted[guess] += 1
    return scores_of(gold, predicted, same, same)


def scores_of(
    gold: Mapping[str, int],
    predicted: Mapping[str, int],
    found: Mapping[str, int],
    correct: Mapping[str, int],
) -> list[LabelScore]:
    """The scores of all labels, given their counts; those with the most errors first."""
    scores = [
        LabelScore(
            label,
            gold.get(label, 0),
            predicted.get(label, 0),
            found.get(label, 0),
            correct.get(label, 0),
        )
        for label in sorted({*gold, *predicted})
    ]
    return sorted(scores, key=lambda score: -score.errors)


def confusions_in(pairs: Iterable[Pair]) -> list[Confusion]:
    """Count the pairs that differ, the most frequent first.

    >>> confusions_in([("N", "V"), ("V", "V"), ("N", "V"), ("D", None)])[0]
    Confusion(gold='N', predicted='V', count=2)
    """
    counts = Counter(pair for pair in pairs if pair[0] != pair[1])
    ordered = sorted(counts.items(), key=lambda item: (-item[1], tuple(map(str, item[0]))))
    return [Confusion(gold, predicted, count) for (gold, predicted), count in ordered]
