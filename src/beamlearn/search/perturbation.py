"""Perturbed log-probabilities: what a beam of samples without replacement is ranked by."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from .gumbel import child_keys, conditioned, gumbels, log_inclusion, root_keys
from .ranking import top


@dataclass(frozen=True)
class PerturbedNeighbors:
    """phi and G of every neighbor of A_b; -inf where there is none."""

    log_probabilities: Float[Tensor, "batch n"]
    """phi: without gradients."""
    scores: Float[Tensor, "batch n"]
    """G = phi + Gumbel noise: the largest G of all outputs that the neighbor can become."""
    thresholds: Float[Tensor, " batch"]
    """The largest G that was dropped before, -inf if nothing was."""

    def best(
        self, k: int, among: Bool[Tensor, "batch k a"] | None = None
    ) -> tuple[Bool[Tensor, "batch kept"], Int[Tensor, "batch kept"]]:
        """BEST(A_b, k, G)."""
        scores = self.scores
        if among is not None:
            scores = scores.masked_fill(~among.flatten(1), -torch.inf)
        values, index = top(scores, k)
        return values > -torch.inf, index

    def log_inclusion(self, k: int) -> Float[Tensor, "batch n"]:
        """log q of the k neighbors with the largest G, given the next one; -inf for the others."""
        kappa = self.thresholds
        if self.scores.shape[1] > k:
            kappa = torch.maximum(kappa, top(self.scores, k + 1)[0][:, k])
        kappa = kappa[:, None]
        chosen = self.scores > kappa
        return log_inclusion(self.log_probabilities, kappa).masked_fill(~chosen, -torch.inf)


@dataclass(frozen=True)
class Perturbation:
    """The noise of the nodes of a beam."""

    keys: Int[Tensor, "batch k"]
    """What the noise of all nodes below is made from."""
    scores: Float[Tensor, "batch k"]
    """G of the nodes; arbitrary in empty slots."""
    thresholds: Float[Tensor, " batch"]
    """The largest G of all nodes that were dropped on the way here, -inf if none was.

    Below a dropped node, the largest G is its own; so at the end this is kappa, the largest G of
    all outputs that are not in the sample.
    """

    @classmethod
    def initial(cls, seeds: Int[Tensor, " batch"]) -> "Perturbation":
        """G of the initial nodes: a standard Gumbel, as log p of everything is 0."""
        keys = root_keys(seeds)
        scores = gumbels(keys)
        return cls(keys, scores, torch.full_like(scores[:, 0], -torch.inf))

    def spread(self, log_probabilities: Float[Tensor, "batch k a"]) -> PerturbedNeighbors:
        """Draw G of all neighbors, given that the largest of each node's neighbors is its own.

        So a finished hypothesis, its own only neighbor, keeps its G.
        """
        actions = torch.arange(log_probabilities.shape[-1], device=self.keys.device)
        noise = gumbels(child_keys(self.keys[..., None], actions))
        scores = conditioned(log_probabilities + noise, self.scores)
        return PerturbedNeighbors(log_probabilities.flatten(1), scores.flatten(1), self.thresholds)

    def follow(
        self,
        neighbors: PerturbedNeighbors,
        slots: Int[Tensor, "batch m"],
        actions: Int[Tensor, "batch m"],
        index: Int[Tensor, "batch m"],
        kept: Bool[Tensor, "batch m"],
    ) -> "Perturbation":
        """The noise of the next beam, and what the neighbors outside it do to the thresholds."""
        scores = neighbors.scores
        places = index.masked_fill(~kept, scores.shape[1])  # empty slots have any index
        inside = pad(torch.zeros_like(scores, dtype=torch.bool), (0, 1)).scatter(-1, places, True)
        dropped = scores.masked_fill(inside[:, :-1], -torch.inf).amax(dim=-1)
        return Perturbation(
            child_keys(self.keys.gather(-1, slots), actions),
            scores.gather(-1, index).masked_fill(~kept, 0.0),
            torch.maximum(self.thresholds, dropped),
        )

    def each(self, function: Callable[[Tensor], Tensor]) -> "Perturbation":
        """Apply a function to every field, such as the choice of some rows."""
        return Perturbation(*map(function, (self.keys, self.scores, self.thresholds)))
