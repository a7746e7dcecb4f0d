"""The ids of a catalogue as a constraint, for spaces whose actions are tokens."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from .constraint import Constraint
from .neighbors import Move
from .steps_left import StepsLeft
from .trie import ROOT, Children, Trie


@final
@dataclass(frozen=True, eq=False)
class TriePaths(Constraint):
    """The paths from the root of a trie to its leaves; a state is the number of a node.

    Where outputs end with an action that no id has, `end` is its number: it follows the leaves.
    """

    trie: Trie
    actions: int
    end: int | None = None

    @cached_property
    def heights(self) -> Int[Tensor, " nodes"]:
        """How many actions lead from each node to the nearest end of an output."""
        found = torch.where(self.trie.inner, self.trie.nodes, int(self.end is not None))
        last = torch.full_like(found, -1)
        while not torch.equal(found, last):
            last = found
            found = found.scatter_reduce(0, self.trie.parents[1:], found[1:] + 1, "amin")
        return found

    def start(self, batch: int) -> Int[Tensor, "batch 1"]:
        return torch.full((batch, 1), ROOT, device=self.trie.device)

    def legal(
        self, state: Int[Tensor, "batch k"], left: StepsLeft | None = None
    ) -> Bool[Tensor, "batch k a"]:
        children = self.trie.children(state)
        going = children.legal & (self.heights[children.nodes] > 0)
        if left is not None:
            going = going & (self.heights[children.nodes] < left.most[:, None, None])
        return self._marked(children, going)

    def final(self, state: Int[Tensor, "batch k"]) -> Bool[Tensor, "batch k a"]:
        children = self.trie.children(state)
        if self.end is None:
            return self._marked(children, children.legal & ~self.trie.inner[children.nodes])
        found = self._marked(children, torch.zeros_like(children.legal))
        found[..., self.end] = ~self.trie.inner[state]
        return found

    def advance(self, state: Int[Tensor, "before slots"], move: Move) -> Int[Tensor, "batch k"]:
        return self.trie.step(move.follow(state), move.actions).clamp(min=0)  # if it is not read

    def _marked(
        self, children: Children, which: Bool[Tensor, "batch k c"]
    ) -> Bool[Tensor, "batch k a"]:
        """A mask of all actions, from some of the children."""
        mask = which.new_zeros(*which.shape[:-1], self.actions + 1)
        tokens = children.tokens.masked_fill(~which, self.actions)  # a column for the others
        return mask.scatter_(-1, tokens, which)[..., : self.actions]
