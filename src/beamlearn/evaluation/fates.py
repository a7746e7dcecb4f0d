"""Fates: what became of the best reachable output in the search of each example."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..learning.trajectory import Trajectory


@dataclass(frozen=True)
class Fates:
    """Where a search lost the best reachable output, example by example, or that it did not."""

    list_costs: Float[Tensor, " examples"]
    """The cost of the best output on the n-best list."""
    lost_at: Int[Tensor, " examples"]
    """The number of the transition, from 0, at which the best output fell out of the beam; -1 where
    it is on the n-best list."""
    steps: Int[Tensor, " examples"]
    """The number of transitions."""
    pruned: Bool[Tensor, " examples"]
    """Did any hypothesis fall out? If not, the search was exhaustive."""

    @property
    def listed(self) -> Bool[Tensor, " examples"]:
        """Is the best output on the n-best list?"""
        return self.lost_at < 0

    def take(self, places: Int[Tensor, " some"]) -> "Fates":
        """Some of the examples."""
        return Fates(*(field[places] for field in vars(self).values()))


def fates_of(path: Trajectory) -> Fates:
    """Read the fates off the trajectory of a search, as `search_trajectory` gives it.

    lost_at is the first i with  c*(b_{i+1}) > c*(b_i),  where the last beam is the n-best list.
    """
    optimum = path.oracle.initial()
    list_costs = optimum.clone()
    first = torch.full((len(path),), -1, device=optimum.device)
    done, pruned = torch.zeros_like(first), torch.zeros_like(first, dtype=torch.bool)
    for transition in path.transitions:
        step, neighbors = transition.step, transition.neighbors
        examples, ended = step.examples, step.ended
        best = transition.costs.masked_fill(~step.ranked, torch.inf).amin(dim=-1)
        list_costs[examples[ended]] = best[ended].to(list_costs.dtype)
        lost = examples[transition.increased & (first[examples] < 0)]
        first[lost] = done[lost]
        done[examples] += 1
        pruned[examples] |= step.ranked.sum(dim=-1) < neighbors.mask.sum(dim=-1)
    # The choice among the n-best list also raises the cost; then nothing has fallen out.
    listed = list_costs - optimum <= path.oracle.tolerance
    # Where the oracle is inexact, the rise may have escaped it.
    lost_at = torch.where(first < 0, done - 1, first).masked_fill(listed, -1)
    return Fates(list_costs, lost_at, path.steps, pruned)


def merge_fates(parts: Sequence[Fates]) -> Fates:
    """The fates of all examples, in the order of the parts."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Fates(*(torch.cat(column) for column in columns))
