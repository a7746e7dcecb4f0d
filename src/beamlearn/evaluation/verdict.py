"""Verdict: is it worth training with the beam, and with what expected gain?"""

from dataclasses import dataclass
from math import hypot
from typing import Any, Literal

from .gain import SPREAD, Signs, expected_reduction, slope_of
from .metric import Metric

WORTH, LITTLE = 0.05, 0.02
"""Expected reductions of the avoidable cost from which on it is worth it, or may pay a little."""
Kind = Literal["worth it", "unclear", "not worth it", "nothing to gain", "trained with it"]


@dataclass(frozen=True)
class Verdict:
    """What training with a beam is expected to gain."""

    kind: Kind
    width: int
    """Of the beam."""
    trained: int
    """The width that the model was trained with."""
    metric: Metric
    before: float
    """The metric of the model as it is, with the beam."""
    gain: float
    """By how much the metric is expected to get better; above 0 is better, also of error rates."""
    give_or_take: float
    """The standard deviation of the gain: of the rule, and of the examples."""
    reduction: float
    """The share of the avoidable cost that is expected to go."""
    signs: Signs

    @property
    def after(self) -> float:
        """The expected metric."""
        return self.before - self.gain if self.metric.lower else self.before + self.gain

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, and what it rests on."""
        return (self.conclusion, self.basis) if self.basis else (self.conclusion,)

    @property
    def conclusion(self) -> str:
        """The verdict."""
        match self.kind:
            case "nothing to gain":
                return (
                    "Training with the beam has nothing to gain: greedy search finds the best "
                    "reachable output of every example."
                )
            case "trained with it":
                return (
                    f"This model was trained with a beam of {self.trained}, so that nothing is "
                    "predicted; train one by log_likelihood to see what the beam is worth."
                )
            case "worth it":
                return f"Training with the beam is worth it: {self.expected}."
            case "unclear":
                return f"Training with the beam may pay a little: {self.expected}."
            case "not worth it":
                return (
                    "Training with the beam alone is probably not worth it: expect no gain in "
                    f"{self.metric.spoken}, give or take {self.points(self.give_or_take)}. What "
                    "joint gains beside likelihood is not predicted."
                )

    @property
    def expected(self) -> str:
        """The gain in words."""
        label, unit = self.metric.spoken, " %" * self.metric.rate
        return (
            f"with a beam of {self.width}, expect {label} to go from "
            f"{self.metric.shown(self.before)}{unit} to about {self.metric.shown(self.after)}"
            f"{unit}, a gain of {self.points(self.gain)}, give or take "
            f"{self.points(self.give_or_take)}"
        )

    @property
    def basis(self) -> str:
        """What the verdict rests on."""
        if self.kind in ("nothing to gain", "trained with it"):
            return ""
        sees = (
            "the model sees all of the input before it decides, and such models have gained "
            "little or nothing"
            if self.signs.sees_all
            else "the model decides before it has seen all of the input, and such models have "
            f"gained about {slope_of(self.signs):.1f} times that in training"
        )
        return (
            f"Basis: a beam of {self.width} in testing alone removes {100 * self.signs.beam:.1f} % "
            f"(± {100 * self.signs.deviation:.1f}) of the avoidable cost of greedy search; {sees}. "
            f"Choosing the best output of each final beam would remove "
            f"{100 * self.signs.listed:.0f} % of what is left, the most that a loss over the final "
            "beam can gain."
        )

    def points(self, number: float) -> str:
        """A difference of the metric.

        Of a rate, in points of percent.
        """
        shown = self.metric.shown(number)
        return f"{shown} points" if self.metric.rate else shown

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name, and the sentences."""
        return {
            "verdict": self.kind,
            "width": self.width,
            "trained_width": self.trained,
            "metric": self.metric.name,
            "before": self.before,
            "expected": self.after,
            "gain": self.gain,
            "give_or_take": self.give_or_take,
            "reduction": self.reduction,
            "signs": vars(self.signs),
            "text": " ".join(self.sentences),
        }


def verdict_of(
    signs: Signs,
    metric: Metric,
    before: float,
    *,
    width: int,
    avoidable: float,
    trained: int = 1,
) -> Verdict:
    """Judge by the signs of a model; `before` is its metric with a beam of `width`.

    gain = reduction * error,  where the error is the metric, or 1 - metric if more is better, times
    the share of the cost that is `avoidable`: as the cost goes, so goes the error.
    """
    reduction = expected_reduction(signs)
    error = avoidable * (before if metric.lower or not metric.rate else 1 - before)
    noise = hypot(SPREAD, slope_of(signs) * signs.deviation)
    return Verdict(
        kind=kind_of(reduction, avoidable, trained),
        width=width,
        trained=trained,
        metric=metric,
        before=before,
        gain=reduction * error,
        give_or_take=noise * error,
        reduction=reduction,
        signs=signs,
    )


def kind_of(reduction: float, avoidable: float, trained: int = 1) -> Kind:
    """Name the verdict.

    >>> kind_of(0.1, 1.0), kind_of(0.01, 1.0), kind_of(0.1, 1.0, trained=8)
    ('worth it', 'not worth it', 'trained with it')
    """
    if trained > 1:
        return "trained with it"
    if avoidable <= 0:
        return "nothing to gain"
    if reduction >= WORTH:
        return "worth it"
    return "unclear" if reduction >= LITTLE else "not worth it"
