"""Transitions: one visited beam of every example, and where the trajectory went from it."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..search.beam import Selection, Step, final_choice, policy, settled_beam, transition_cost
from ..search.neighbors import Neighbors
from ..search.space import Finish


@dataclass(frozen=True)
class Transition:
    """One visited beam b_i of every running example, and where the trajectory went from it."""

    neighbors: Neighbors
    """A_{b_i}, with the scores and costs that the loss at b_i is made of."""
    width: Int[Tensor, " batch"]
    """The width of the transition: k, or 1 into a terminal beam."""
    step: Step
    costs: Float[Tensor, "batch k"]
    """c* of the nodes of b_{i+1}, or of the n-best list of a search; zeros in empty slots."""
    increased: Bool[Tensor, " batch"]
    """Does the learned policy raise the cost here (whether or not it was followed)?"""
    on_policy: Bool[Tensor, " batch"]
    """Would the learned policy alone have led here (see `Trajectory.on_policy`)?"""
    final: bool = False
    """Is it the choice among finished hypotheses, right after the transition to them?"""

    def without_scores(self) -> "Transition":
        """The same without the memory that the scores of all neighbors take."""
        local = self.neighbors.local
        zeros = local.new_zeros(()).expand_as(local)
        perturbed = self.neighbors.perturbed if self.step.some_ended else None
        return replace(self, neighbors=replace(self.neighbors, local=zeros, perturbed=perturbed))

    def detached(self) -> "Transition":
        """The same without the gradient of its scores."""
        local, offset = self.neighbors.local.detach(), self.neighbors.offset.detach()
        neighbors = replace(self.neighbors, local=local, offset=offset)
        return replace(
            self, neighbors=neighbors, step=replace(self.step, scores=self.step.scores.detach())
        )

    def rescored(self, neighbors: Neighbors) -> "Transition":
        """The same transition from the same neighbors with new scores; noise stays as it was."""
        step, old = self.step, self.neighbors
        neighbors = replace(
            neighbors, completion=old.completion, known=old.known, perturbed=old.perturbed
        )
        entries = neighbors.look_up(step.slots * neighbors.actions + step.actions)
        scores = entries.scores.masked_fill(~step.ranked, 0.0)
        return replace(self, neighbors=neighbors, step=replace(step, scores=scores))

    def rescored_after(self, before: "Transition") -> "Transition":
        """The same final choice, among hypotheses that were rescored in the transition before."""
        settled = settled_beam(before.step)
        assert settled is not None  # or there would be no choice
        return self.rescored(final_choice(settled, before.neighbors.scale))

    def next_cost(self) -> Float[Tensor, " batch"]:
        """c*(b_{i+1}), the cost of the cheapest node of the next beam."""
        return self.costs.masked_fill(~self.step.kept, torch.inf).amin(dim=-1)


def learned_transition(
    neighbors: Neighbors, width: int, finish: Finish, tolerance: float, final_width: int = 1
) -> tuple[Selection, Bool[Tensor, " batch"]]:
    """The transition of the learned policy, and where it raises the cost."""
    learned = policy(neighbors, width, finish).final_beam(final_width)
    return learned, transition_cost(neighbors, learned) > tolerance
