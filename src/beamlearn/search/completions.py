"""In how many steps the states of an automaton can reach an accepting one."""

from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from .steps_left import StepsLeft


def edges_of(next: Int[Tensor, "states kinds"]) -> Int[Tensor, "edges 2"]:
    """Each pair of a state and one that can follow it, once."""
    states = torch.arange(len(next), device=next.device)[:, None].expand_as(next)
    pairs = torch.stack([states, next], dim=-1)[next >= 0]
    found: Tensor = torch.unique(pairs, dim=0)
    return found


@final
class Completions:
    """A table of the numbers of steps, as long as the longest output that was asked about.

    Row r says of each state in how many of the numbers below r an accepting one can be reached:
    reached[0] = accepting;  reached[r + 1][s] = any reached[r][t] over the t that can follow s
    """

    def __init__(self, edges: Int[Tensor, "edges 2"], accepting: Bool[Tensor, " states"]) -> None:
        self.edges, self.reached = edges, accepting
        self.counts = torch.zeros(1, len(accepting), dtype=torch.long, device=accepting.device)

    def possible(self, left: StepsLeft) -> Bool[Tensor, "batch states"]:
        """Can an accepting state be reached in one of the numbers of steps that are left?"""
        high = (left.most + 1).clamp(min=0)
        low = left.fewest.minimum(high)
        self._grow(int(high.max()) + 1 if len(high) else 0)
        return self.counts[high] > self.counts[low]

    def _grow(self, rows: int) -> None:
        found = [self.counts]
        for _ in range(rows - len(self.counts)):
            found.append(found[-1][-1:] + self.reached)
            self.reached = preceding(self.edges, self.reached)
        if len(found) > 1:
            self.counts = torch.cat(found)


def preceding(
    edges: Int[Tensor, "edges 2"], marked: Bool[Tensor, " states"]
) -> Bool[Tensor, " states"]:
    """The states that a marked one can follow."""
    found = torch.zeros_like(marked)
    found[edges[marked[edges[:, 1]], 0]] = True
    return found
