"""Gain: by how much training with the beam is expected to lower the cost of a model."""

from dataclasses import dataclass

from .evaluate import Evaluation

SLOPE, THRESHOLD = 10.0, 0.05
SPREAD = 0.05
"""How far measured reductions were from expected ones: the root of the mean squared difference."""


@dataclass(frozen=True)
class Signs:
    """How a model that was trained without a beam takes to one; shares of the avoidable cost."""

    beam: float
    """1 - r_k / r_1:  what a beam of k removes of the regret that greedy search has."""
    deviation: float
    """The standard error of `beam` over the examples."""
    listed: float
    """1 - list_k / r_k:  what choosing the best output on each n-best list would then remove."""

    @classmethod
    def of(cls, greedy: Evaluation, beam: Evaluation) -> "Signs":
        """Compare a beam with greedy search on the same examples; `beam` may have fates."""
        before, after = greedy.regrets.double(), beam.regrets.double()
        total = float(before.sum())
        if len(before) != len(after):
            raise ValueError(
                "`greedy` and `beam` must be about the same examples, got "
                f"{len(before)} and {len(after)}; evaluate the same batches at both widths."
            )
        removed = float((before - after).sum()) / total if total > 0 else 0.0
        rest = (before - after) - removed * before
        deviation = float(rest.square().sum().sqrt()) / total if total > 0 else 0.0
        listed = 0.0
        if beam.fates is not None and float(after.sum()) > 0:
            gap = beam.costs.double() - beam.fates.list_costs.double()
            listed = float(gap.sum() / after.sum())
        return cls(removed, deviation, listed)


def expected_reduction(signs: Signs, slope: float = SLOPE, threshold: float = THRESHOLD) -> float:
    """The share of the avoidable cost that training with the beam is expected to remove.

    reduction = min(1, slope * max(0, beam - threshold))

    A beam in testing alone removes little, but if it removes anything then what comes later in an
    input says something about earlier decisions, and training can teach a model to wait for it.
    `slope` and `threshold` are fitted to trainings with and without the beam.

    >>> expected_reduction(Signs(0.01, 0.001, 0.5))
    0.0
    """
    return min(1.0, slope * max(0.0, signs.beam - threshold))
