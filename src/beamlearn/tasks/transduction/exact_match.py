"""Exact match: 0 for a reference, 1 for everything else."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .space import END, Targets, TransductionPosition


@final
class ExactMatchOracle(Oracle):
    """c* under 0 for an output that is one of the references, and 1 for any other.

    c*(a) = 0 if the tokens so far and then a are how some reference begins, which has to fit into
    the limit and must not have a token that no action stands for; 1 otherwise.

    Closed form, exact.
    """

    unique: bool
    """Is the cheapest neighbor unique all along the path of the references, whatever the scores?
    True if there is one reference each, which can be produced."""

    def __init__(self, space: Targets) -> None:
        self.actions, tokens = space.actions, space.references.tokens
        lengths, there = space.references.lengths, space.references.there
        limits = space.limits if space.actions > 1 else torch.zeros_like(space.limits)
        inside = torch.arange(tokens.shape[-1], device=tokens.device) < lengths[..., None]
        unseen = ((tokens <= END) & inside).any(dim=-1)
        self.possible = there & ~unseen & (lengths <= limits[:, None])
        # A reference ends with END, and has at least one place.
        self.tokens = pad(tokens.clamp(min=END), (0, 1), value=END)
        self.unique = tokens.shape[1] == 1 and bool(self.possible.all())

    def initial(self) -> Float[Tensor, " batch"]:
        return (~self.possible.any(dim=-1)).float()

    def start(self) -> Bool[Tensor, "batch 1 refs"]:
        """Which references begin like a hypothesis."""
        return self.possible[:, None]

    def costs(
        self, memory: Bool[Tensor, "batch k refs"], nodes: TransductionPosition
    ) -> Float[Tensor, "batch k a"]:
        wrong = (~memory).float()
        table = wrong.new_ones(*wrong.shape[:2], self.actions)
        return table.scatter_reduce_(-1, self._next(nodes, nodes.length, wrong), wrong, "amin")

    def advance(
        self, memory: Bool[Tensor, "before slots refs"], nodes: TransductionPosition, move: Move
    ) -> Bool[Tensor, "batch k refs"]:
        before = move.follow(memory)
        tokens = self._next(nodes, nodes.length - 1, before)
        return before & (tokens == move.actions[..., None])

    def _next(
        self, nodes: TransductionPosition, place: int, like: Tensor
    ) -> Int[Tensor, "batch k refs"]:
        """The token of each reference at a place; nothing goes on after the end of all."""
        place = min(place, self.tokens.shape[-1] - 1)
        return self.tokens[nodes.examples, None, :, place].expand(like.shape)


def exact_match(output: Sequence[int], reference: Sequence[int]) -> float:
    """Whether two sequences differ, as a cost.

    >>> exact_match([1, 2], [1, 2]), exact_match([1], [1, 2])
    (0.0, 1.0)
    """
    return float(list(output) != list(reference))
