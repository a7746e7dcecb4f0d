"""The right trees of a batch of sentences, in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .actions import LOST, Actions
from .settings import Cost


@dataclass(frozen=True)
class Gold:
    """Right heads and relations by word number, from 0 on (which is no word)."""

    heads: Int[Tensor, "batch words"]
    """0: the root; `LOST` where no action makes the right arc, and for what is no word."""
    relations: Int[Tensor, "batch words"]
    """Among the relations to words or, where the head is the root, those to the root."""
    lengths: Int[Tensor, " batch"]
    actions: Actions
    cost: Cost
    projective: bool
    """Are all the trees projective?"""

    @cached_property
    def hopeless(self) -> Float[Tensor, " batch"]:
        """How many words of each sentence have no arc that could be right."""
        lost = (self.heads == LOST).sum(dim=-1)
        return (lost - self.heads.shape[1] + self.lengths).float()

    def errors(self, example: int, arcs: Sequence[tuple[int, str]]) -> int:
        """How many arcs, one for each word, have a wrong head or, with labels, a wrong relation."""
        right = zip(self.heads[example].tolist(), self.relations[example].tolist(), strict=True)
        next(right)  # number 0 is no word
        return sum(
            arc[0] != head or (self.cost == "labeled" and self._number(*arc) != relation)
            for arc, (head, relation) in zip(arcs, right, strict=False)  # then comes padding
        )

    def _number(self, head: int, relation: str) -> int:
        return self.actions.number(relation, root=head == 0)

    @cached_property
    def _sorted(self) -> Int[Tensor, "batch words"]:
        """The arcs as single numbers, by head and dependent."""
        words = torch.arange(self.heads.shape[1], device=self.heads.device)
        return (self.heads * self.heads.shape[1] + words).sort(dim=-1).values

    def dependents_from(
        self,
        examples: Int[Tensor, " batch"],
        word: Int[Tensor, "batch k"],
        front: Int[Tensor, "batch k"],
    ) -> Int[Tensor, "batch k"]:
        """How many right dependents a word has at `front` or after it."""
        arcs = self._sorted[examples]
        size = self.heads.shape[1]
        bounds = torch.cat([word * size + front.clamp(max=size), word * size + size], dim=-1)
        first, last = torch.searchsorted(arcs, bounds).chunk(2, dim=-1)
        return last - first
