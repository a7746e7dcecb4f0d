"""Incurred: the trajectories of a round and their losses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ..losses import AnyLoss, log_loss_neighbors, name_of, with_options
from ..search.beam import initial_beam
from ..search.check_tensors import NotFiniteError
from ..search.oracle import Oracle as CompletionCosts
from ..search.scorer import Scorer
from ..search.space import SearchSpace
from ..strategies import Oracle, Strategy
from .collect import beam_trajectory
from .not_finite import bad_loss
from .teacher_forcing import ForcedPath, forced_path
from .trajectory import Reduction, Trajectory

LIKELIHOOD = with_options(log_loss_neighbors, best="all")
"""Along the oracle's path at width 1: minus the log-likelihood of the cheapest actions."""


@dataclass(frozen=True)
class Outcome:
    """What the trajectories of a round came to."""

    columns: Mapping[str, Tensor]
    """A number for each example, under the names that `Round` has for them."""
    width: int
    paths: tuple[Trajectory, ...]
    """The visited beams, if they are kept."""


@dataclass(frozen=True)
class Incurred:
    """The losses of a round, with their gradient."""

    path: Trajectory | ForcedPath
    losses: Float[Tensor, " batch"]
    """Along the path."""
    likelihoods: Float[Tensor, " batch"] | None
    weight: float | None
    """That of the losses, beside likelihoods."""
    owners: int
    """What the sum of the losses is divided by."""

    @property
    def total(self) -> Float[Tensor, " batch"]:
        """What the update is to lower."""
        if self.likelihoods is None or self.weight is None:
            return self.losses
        return self.likelihoods + self.weight * self.losses if self.weight else self.likelihoods

    def bad_loss(self, loss: AnyLoss) -> NotFiniteError | None:
        """The error for the first loss that is not finite, or for the number that made it so."""
        name = f"the loss {name_of(loss)!r}"
        found = self.path.bad_number() or bad_loss(self.losses, name)
        if found is not None or self.likelihoods is None:
            return found
        return bad_loss(self.likelihoods, "the likelihood")

    def outcome(self, *, keep: bool) -> Outcome:
        """What is known of the trajectories after the update; the visited beams, too, to `keep`."""
        path = self.path
        columns = {
            "losses": self.losses.detach(),
            "costs": path.final_costs,
            "optima": path.oracle.initial(),
            "increases": path.increases,
            "on_policy": path.on_policy,
            "steps": path.steps,
        }
        if self.likelihoods is not None:
            columns["likelihoods"] = self.likelihoods.detach()
        kept = (path.detach(),) if keep and isinstance(path, Trajectory) else ()
        return Outcome(columns, path.width, kept)


def incur(
    space: SearchSpace[Any],
    scorer: Scorer,
    loss: AnyLoss,
    strategy: Strategy,
    width: int,
    *,
    weight: float | None,
    final_width: int,
    reduction: Reduction,
    oracle: CompletionCosts | None,
    keep: bool = False,
    **collection: Any,
) -> Incurred:
    """Collect the trajectories of a round and compute their losses.

    Without a `weight` there is one trajectory, that of the strategy; with 0, that of the oracle
    alone, for its likelihood; otherwise both. What the scorer and the oracle compute once per
    example is shared. The oracle's path at width 1 is scored in one pass where that can be done,
    unless its beams are to be kept.
    """
    if weight is not None and not weight >= 0:
        raise ValueError(f"`beam_weight` must be at least 0, got {weight}.")
    start, oracle = initial_beam(space, scorer), oracle or space.oracle()
    collect = partial(beam_trajectory, space, scorer, start=start, **collection)
    likelihoods = None
    if weight is not None:
        reference = oracle.right_path(space)
        forced = None if keep and weight == 0 else forced_path(space, scorer, reference, start)
        right = forced or collect(width=1, strategy=Oracle(), oracle=reference)
        likelihoods = right.losses(LIKELIHOOD, reduction)
        if weight == 0:
            return Incurred(right, likelihoods, likelihoods, weight, space.owners)
    forced = None
    if (
        weight is None
        and width == 1
        and strategy == Oracle()
        and not (keep or getattr(loss, "final", False))
    ):
        forced = forced_path(space, scorer, oracle, start)
    path = forced or collect(width=width, strategy=strategy, final_width=final_width, oracle=oracle)
    losses = path.losses(loss, strategy.reduction or reduction)
    return Incurred(path, losses, likelihoods, weight, space.owners)
