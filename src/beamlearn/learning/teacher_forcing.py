"""Teacher forcing: the oracle's path at width 1, scored in one pass instead of step by step."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..losses import AnyLoss, check_losses, check_needs
from ..search.beam import Beam
from ..search.check_tensors import NotFiniteError, bad_score
from ..search.oracle import Oracle, RightPath
from ..search.scorer import PathScorer, Scorer
from ..search.space import SearchSpace
from .not_finite import first
from .trajectory import Reduction, reduced


@dataclass(frozen=True)
class ForcedPath:
    """What a `Trajectory` along the oracle's path at width 1 says, without its beams."""

    width: ClassVar[int] = 1
    oracle: Oracle
    path: RightPath
    scores: Float[Tensor, "n a"]
    """Of all neighbors on the way, step by step."""

    def losses(self, loss: AnyLoss, reduction: Reduction = "sum") -> Float[Tensor, " batch"]:
        """The losses along each path, as of a trajectory."""
        check_needs(loss, self.oracle.full)
        step, example = self.path.places
        try:
            values = loss(self.scores, self.path.costs, torch.ones_like(step))
        except ValueError as error:  # a loss that refuses NaN does not know whose it is
            raise self.bad_number() or error from error
        check_losses(values, len(step), loss)
        return reduced(values, example, len(self.path.actions), reduction)

    @cached_property
    def wrong(self) -> Bool[Tensor, "batch steps"]:
        """Where the learned policy would take another action; all of them raise the cost."""
        step, example = self.path.places
        preferred = self.scores.detach().max(dim=-1).indices  # of equals the first
        found = torch.zeros_like(self.path.taken)
        found[example, step] = preferred != self.path.actions[example, step]
        return found

    @property
    def final_costs(self) -> Float[Tensor, " batch"]:
        """The oracle's path raises no cost."""
        return self.oracle.initial()

    @property
    def increases(self) -> Int[Tensor, " batch"]:
        """At how many transitions the learned policy would raise the cost."""
        return self.wrong.sum(dim=-1)

    @property
    def on_policy(self) -> Bool[Tensor, " batch"]:
        """Would the learned policy take the same path, apart from the last action?"""
        going_on = self.path.taken[:, 1:]
        return ~(self.wrong[:, :-1] & going_on).any(dim=-1)

    @property
    def steps(self) -> Int[Tensor, " batch"]:
        """The number of actions of each path."""
        return self.path.taken.sum(dim=-1)

    def bad_number(self) -> NotFiniteError | None:
        """The error for the first score that is not finite, if there is one."""
        scores = self.scores.detach()
        at = first(~scores.isfinite())
        if at is None:
            return None
        return bad_score(float(scores[at]), int(self.path.places[1][at[0]]))


def forced_path(
    space: SearchSpace[Any], scorer: Scorer, oracle: Oracle, start: Beam
) -> ForcedPath | None:
    """The oracle's path in one pass, if the scorer has one and the path is known; None: walk."""
    if not isinstance(scorer, PathScorer) or space.scored is not space:
        return None
    path = oracle.path()
    if path is None:
        return None
    step, example = path.places
    local = scorer.along(start.memory, path.actions)
    if local.dtype in (torch.float16, torch.bfloat16):
        local = local.float()
    return ForcedPath(oracle, path, local[example, step])
