"""Decode a data set and say what it cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .beam import Finish
from .learn import Task
from .scorer import Scorer
from .trajectory import beam_trajectory


@dataclass(frozen=True)
class Evaluation:
    """The costs of the outputs that a policy chooses, example by example."""

    costs: Float[Tensor, " examples"]
    """c of each output."""
    regrets: Float[Tensor, " examples"]
    """How much more it costs than the best output of the space: the sum of the increases."""
    increases: Int[Tensor, " examples"]
    """At how many transitions the cost rose."""

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def cost(self) -> float:
        """Mean cost."""
        return float(self.costs.mean())

    @property
    def regret(self) -> float:
        """Mean cost above the best possible."""
        return float(self.regrets.mean())

    @property
    def optimum(self) -> float:
        """Mean cost of the best outputs of the spaces."""
        return self.cost - self.regret

    @property
    def increases_per_example(self) -> float:
        """Mean number of cost increases in a trajectory."""
        return float(self.increases.float().mean())


@torch.no_grad()
def evaluate(
    batches: Iterable[Any],
    task: Task,
    scorer: Scorer,
    width: int = 8,
    *,
    finish: Finish = "pad",
) -> Evaluation:
    """Decode every batch with a beam of `width` and compare with the references.

    The scorer is put in evaluation mode meanwhile.
    """
    training = scorer.training
    scorer.eval()
    parts = []
    try:
        for batch in batches:
            path = beam_trajectory(task.space(batch), scorer, width=width, finish=finish)
            best = path.oracle.initial()
            parts.append((path.final_costs, path.final_costs - best, path.increases))
    finally:
        scorer.train(training)
    if not parts:
        raise ValueError("`evaluate` needs at least one batch, but none came.")
    return Evaluation(*(torch.cat(field) for field in zip(*parts, strict=True)))
