"""Hamming distance between sequences of different lengths: c* by counting."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .space import END, Targets, TransductionPosition


@final
class PaddedHammingOracle(Oracle):
    """c* under the number of places at which output and nearest reference differ.

    The shorter of both is filled up: every token that one of them lacks counts. With e errors in
    the i tokens so far, for each reference y:
    c*(END) = e + max(0, |y| - i), and c*(a) = e + [y_i != a] + lost(i + 1)
    where lost(i) counts the tokens from place i on that no action stands for, or that are beyond
    the limit of the output's length.

    Closed form, exact.
    """

    unique: bool
    """Is the cheapest neighbor unique all along the path of the references, whatever the scores?
    True if there is one reference each, which can be produced."""

    def __init__(self, space: Targets) -> None:
        self.actions, self.references = space.actions, space.references
        limits = space.limits if space.actions > 1 else torch.zeros_like(space.limits)
        # One more place, behind the end of all references, where nothing is right.
        tokens = torch.nn.functional.pad(self.references.tokens, (0, 1), value=END)
        places = torch.arange(tokens.shape[-1], device=tokens.device)
        lost = (tokens <= END) | (places >= limits[:, None, None])
        lost = lost & (places < self.references.lengths[..., None])
        self.tokens = tokens.clamp(min=END)
        self.lost = lost.flip(-1).cumsum(dim=-1).flip(-1)
        self.unique = tokens.shape[1] == 1 and not bool(lost.any())

    def initial(self) -> Float[Tensor, " batch"]:
        return (self.start()[:, 0] + self.lost[..., 0]).amin(dim=-1)

    def start(self) -> Float[Tensor, "batch 1 refs"]:
        """No errors; infinitely many where there is no reference."""
        errors = torch.zeros(self.references.there.shape, device=self.tokens.device)
        return errors.masked_fill(~self.references.there, torch.inf)[:, None]

    def costs(
        self, memory: Float[Tensor, "batch k refs"], nodes: TransductionPosition
    ) -> Float[Tensor, "batch k a"]:
        right = memory + self.lost[nodes.examples, None, :, self._place(nodes.length + 1)]
        table = (right + 1).amin(dim=-1, keepdim=True).expand(-1, -1, self.actions).clone()
        tokens = self.tokens[nodes.examples, None, :, self._place(nodes.length)]
        table.scatter_reduce_(-1, tokens.expand(right.shape), right, "amin")
        missing = (self.references.lengths[nodes.examples] - nodes.length).clamp(min=0)
        table[..., END] = (memory + missing[:, None]).amin(dim=-1)
        return table

    def advance(
        self, memory: Float[Tensor, "before slots refs"], nodes: TransductionPosition, move: Move
    ) -> Float[Tensor, "batch k refs"]:
        tokens = self.tokens[nodes.examples, None, :, self._place(nodes.length - 1)]
        return move.follow(memory) + (tokens != move.actions[..., None])

    def _place(self, length: int) -> int:
        """The place after `length` tokens, or the one behind the end of all references."""
        return min(length, self.tokens.shape[-1] - 1)


def padded_hamming(output: Sequence[int], reference: Sequence[int]) -> float:
    """In how many places two sequences differ; a place that only one of them has counts.

    >>> padded_hamming([1, 2, 3], [1, 3])
    2.0
    """
    return float(sum(a != b for a, b in zip_longest(output, reference)))
