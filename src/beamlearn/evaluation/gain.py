"""Gain: by how much training with the beam is expected to lower the cost of a model."""

from dataclasses import dataclass

from .evaluate import Evaluation

BLIND, SIGHTED = 2.5, 0.0
"""What a point of `Signs.beam` was worth in training, for models that decide before they have seen
all of the input, and for the others; fitted by benchmarks/expected_gain.py."""
SPREAD = 0.05
"""How far measured reductions were from expected ones: the root of the mean squared difference,
each row left out of the fit in turn."""


@dataclass(frozen=True)
class Signs:
    """How a model that was trained without a beam takes to one; shares of the avoidable cost."""

    beam: float
    """1 - r_k / r_1:  what a beam of k removes of the regret that greedy search has."""
    deviation: float
    """The standard error of `beam` over the examples."""
    listed: float
    """1 - list_k / r_k:  what choosing the best output on each n-best list would then remove."""
    sees_all: bool = True
    """Does the model see all of the input before its first decision?"""

    @classmethod
    def of(cls, greedy: Evaluation, beam: Evaluation, *, sees_all: bool = True) -> "Signs":
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
        return cls(removed, deviation, listed, sees_all)


def slope_of(signs: Signs) -> float:
    """What a point of `Signs.beam` is worth in training."""
    return SIGHTED if signs.sees_all else BLIND


def expected_reduction(signs: Signs) -> float:
    """The share of the avoidable cost that training with the beam is expected to remove.

    reduction = min(1, slope * max(0, beam)),  with the slope BLIND or SIGHTED

    A model that must decide before it has seen all of the input can keep several hypotheses in the
    beam until later input tells them apart, if it has learned to. A beam in testing alone shows
    how much there is to wait for: likelihood has not taught the model to, so that training with
    the beam gains a multiple of it. A model that sees all of the input has nothing to wait for.

    >>> expected_reduction(Signs(0.05, 0.001, 0.5))
    0.0
    >>> expected_reduction(Signs(0.05, 0.001, 0.5, sees_all=False)) == BLIND * 0.05
    True
    """
    return min(1.0, slope_of(signs) * max(0.0, signs.beam))
