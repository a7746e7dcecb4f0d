"""Findings: a model diagnosed at several beam widths, in numbers and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import Any

from ..plural import counted
from .diagnosis import Diagnosis
from .evaluate import Evaluation
from .gain import Signs
from .metric import Metric
from .verdict import Verdict, verdict_of
from .wider_search import WiderSearch

USUAL = 8
"""The width that the verdict is about, or the nearest one."""


@dataclass(frozen=True)
class Findings:
    """What becomes of the best outputs at each width, and what follows from that."""

    diagnoses: tuple[Diagnosis, ...]
    """In the order of their widths."""
    metric: Metric
    values: Mapping[int, float]
    """The metric at each width."""
    verdict: Verdict | None = None
    """None without greedy search and a beam to compare."""
    wider: WiderSearch | None = None
    """What an exact search would change, where that was looked at."""

    @classmethod
    def of(
        cls,
        evaluations: Mapping[int, Evaluation],
        metric: Metric,
        values: Mapping[int, float],
        *,
        trained: int = 1,
        sees_all: bool = True,
    ) -> "Findings":
        """Diagnose searches of the same examples at several widths.

        `values` holds the metric at each width, `trained` is the width in training, and `sees_all`
        says whether the model sees all of the input before its first decision.
        """
        diagnoses = tuple(Diagnosis.of(k, evaluations[k]) for k in sorted(evaluations))
        found = cls(diagnoses, metric, values)
        beam = usual_width([one.width for one in diagnoses])
        if beam is None or 1 not in evaluations:
            return found
        there = found.at(beam)
        verdict = verdict_of(
            Signs.of(evaluations[1], evaluations[beam], sees_all=sees_all),
            metric,
            values[beam],
            width=beam,
            avoidable=there.regret / there.cost if there.cost > 0 else 0.0,
            trained=trained,
        )
        return replace(found, verdict=verdict)

    def at(self, width: int) -> Diagnosis:
        """The diagnosis at a width."""
        return next(one for one in self.diagnoses if one.width == width)

    @property
    def main(self) -> Diagnosis:
        """The diagnosis that the sentences are about."""
        usual = usual_width([one.width for one in self.diagnoses])
        return self.diagnoses[0] if usual is None else self.at(usual)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All findings in words."""
        wider = () if self.wider is None else (self.wider.sentence,)
        verdict = (NO_VERDICT,) if self.verdict is None else self.verdict.sentences
        return (falls(self.main), blame(self.main), *wider, *verdict)

    @property
    def table(self) -> tuple[tuple[str, ...], ...]:
        """Numbers that people read: a label, and a text for each width."""
        rows = {
            self.metric.label: [self.metric.shown(self.values[k.width]) for k in self.diagnoses],
            **{label: self.shares(name) for name, label in SHARES.items()},
            "half of the falls by step": [str(one.middle or "-") for one in self.diagnoses],
            **{
                label: [f"{getattr(one, name):.3f}" for one in self.diagnoses]
                for name, label in COSTS.items()
            },
        }
        return tuple((label, *cells) for label, cells in rows.items())

    def shares(self, name: str) -> list[str]:
        """A count as a share of the examples, at each width."""
        return [f"{one.share(name):.1%}" for one in self.diagnoses]

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {
            "metric": self.metric.name,
            "widths": [
                {**one.to_json(), self.metric.name: self.values[one.width]}
                for one in self.diagnoses
            ],
            "wider": None if self.wider is None else self.wider.to_json(),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }


SHARES = {
    "right": "best output on top",
    "listed": "on the list, not on top",
    "fallen": "fell out of the beam",
    "improvable": "a better one on the list",
    "search_errors": "search errors",
    "model_errors": "model errors",
}
COSTS = {
    "cost": "cost",
    "regret": "avoidable cost",
    "list_regret": "avoidable, best of the list",
}
NO_VERDICT = "There is no verdict, which needs the widths 1 and 8."


def usual_width(widths: Sequence[int]) -> int | None:
    """The width above 1 that is nearest to 8; None if there is none.

    >>> usual_width([1, 4, 8, 16]), usual_width([1, 2, 5]), usual_width([1])
    (8, 5, None)
    """
    return min((k for k in widths if k > 1), key=lambda k: abs(log2(k / USUAL)), default=None)


def falls(found: Diagnosis, called: str = "example") -> str:
    """How often the best output falls out, and where.

    >>> print(falls(Diagnosis(8, 5, 1, 2, 0, 1, 0, 0.5, 0.5, 0.4, (1, 0, 1), (1, 1))))
    With a beam of 8, the best reachable output falls out of the beam in 25.0 % of 8 examples, in \
half of these by step 1; in 12.5 % it is on the final list, but not on top.
    """
    middle = "" if found.middle is None else f", in half of these by step {found.middle}"
    return (
        f"With a beam of {found.width}, the best reachable output falls out of the beam in "
        f"{100 * found.share('fallen'):.1f} % of {counted(found.examples, called)}{middle}; in "
        f"{100 * found.share('listed'):.1f} % it is on the final list, but not on top."
    )


def blame(found: Diagnosis) -> str:
    """Whose errors there are.

    >>> print(blame(Diagnosis(8, 5, 1, 2, 1, 1, 0, 0.5, 0.5, 0.4, (1, 0, 1), (1, 1))))
    Of the 3 outputs that could be better, 1 is a search error (the model scores the best output \
higher) and 2 are model errors (it prefers what it found). The final list holds both outputs in 1 \
case: the model prefers the worse one, which no beam can fix.
    """
    wrong = found.listed + found.fallen
    if wrong == 0:
        return "No output could be better."
    search = counted(found.search_errors, "is a search error", "are search errors")
    model = counted(found.model_errors, "is a model error", "are model errors")
    return (
        f"Of the {counted(wrong, 'output')} that could be better, {search} (the model scores the "
        f"best output higher) and {model} (it prefers what it found). The final list holds both "
        f"outputs in {counted(found.listed, 'case')}: the model prefers the worse one, which no "
        "beam can fix."
    )
