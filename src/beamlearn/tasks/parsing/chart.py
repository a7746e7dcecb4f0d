"""Completion costs of arc-standard parsing for any right trees, with crossing arcs or without."""

from functools import cached_property
from typing import final

import torch
from jaxtyping import Float, Int, Int16
from torch import Tensor

from .system import NONE

NOBODY = -2
"""The number of a head that no word has."""
FAR = 10_000
"""More than any cost."""


@final
class Chart:
    """The fewest wrong arcs from here on, by all ways to split the buffer into fragments.

    For sentences of moderate length: a transition takes time n^4. Where `TabularOracle` needs no
    chart it takes n^3 at worst, and mostly far less. What is not there is a dependent for free.
    """

    def __init__(self, heads: Int[Tensor, "batch words"], lengths: Int[Tensor, " batch"]) -> None:
        words = torch.arange(heads.shape[1], device=heads.device)
        real = (words > NONE) & (words <= lengths[:, None])
        numbers = words.masked_fill(words == NONE, NOBODY)
        self.wrong = ((heads[:, None] != numbers[:, None]) & real[:, None]).short()
        """What it costs if h gets the dependent d, by h and d."""
        self.rootless = ((heads != NONE) & real).short()

    @cached_property
    def halves(
        self,
    ) -> tuple[Int16[Tensor, "batch words words"], Int16[Tensor, "batch words words"]]:
        """The least costs of words a..b below b, and of a..b below a (Eisner 1996)."""
        wrong = self.wrong.permute(1, 2, 0)
        left, right, left_arc, right_arc = (torch.zeros_like(wrong) for _ in range(4))
        words = torch.arange(len(wrong), device=wrong.device)
        for width in range(1, len(wrong)):
            a = words[: len(words) - width, None]
            b, c = a + width, a + words[:width]
            joined = (right[a, c] + left[c + 1, b]).amin(dim=1, keepdim=True)
            left_arc[a, b] = joined + wrong[b, a]
            right_arc[a, b] = joined + wrong[a, b]
            left[a, b] = (left[a, c] + left_arc[c, b]).amin(dim=1, keepdim=True)
            right[a, b] = (right_arc[a, c + 1] + right[c + 1, b]).amin(dim=1, keepdim=True)
        return left.permute(2, 0, 1), right.permute(2, 0, 1)

    def initial(self) -> Int16[Tensor, " batch"]:
        """The least costs of whole trees."""
        left, right = self.halves
        return (left[:, 1] + right[:, :, -1] + self.rootless)[:, 1:].amin(dim=-1)

    def ahead(
        self,
        examples: Int[Tensor, " batch"],
        stack: Int[Tensor, "batch k depth"],
        front: Int[Tensor, "batch k"],
    ) -> Float[Tensor, "batch k 3"]:
        """The wrong arcs from here on, if SHIFT, LEFT or RIGHT is next.

        costs[e, i, h]: the cost of all that follows, once stack[0..i] and the words up to e are
        one fragment with the head h
          = min of wrong[h, s] + costs[e, i + 1, h], wrong[s, h] + costs[e, i + 1, s],
                   left[e + 1, r] + taken[r, i, h] for r > e
        where s = stack[i + 1]. The fragment grows by s, or by one of words of the buffer.
        taken[r, i, h]: likewise, once that has the head r and all of its words up to r
          = min of wrong[h, r] + right[r, e] + costs[e, i, h] for e >= r,
                   wrong[r, h] + costs[r, i, r]
        """
        # The axes are those of the formulas, then batch and k.
        wrong = self.wrong[examples].permute(1, 2, 0)[..., None]
        left, right = (half[examples].permute(1, 2, 0)[..., None] for half in self.halves)
        batch, k, depth = stack.shape
        words = len(wrong)
        s, rows = stack.permute(2, 0, 1), examples[:, None, None]
        s_below = self.wrong[rows, :, stack].permute(2, 3, 0, 1)
        s_above = self.wrong[rows, stack].permute(2, 3, 0, 1)
        costs, taken = wrong.new_full((2, words, depth, words, batch, k), FAR)
        first = wrong.new_full((words, words, batch, k), FAR)
        costs[-1, -1] = self.rootless[examples].T[..., None]
        for e in range(words - 1, int(front.min()) - 2, -1):
            here = costs[e]
            if e + 1 < words:
                here[:] = (left[e + 1, e + 1 :, None, None] + taken[e + 1 :]).amin(dim=0)
            first[e] = here[0]
            for i in range(depth - 1, 0, -1):
                kept = s_below[i] + here[i]
                changed = s_above[i] + here[i].gather(0, s[i, None])
                here[i - 1] = here[i - 1].minimum(kept).minimum(changed)
            kept = wrong[:, e] + (right[e, e:, None, None] + costs[e:]).amin(dim=0)
            taken[e] = kept.minimum(wrong[e] + here[:, e, None])
        done = (front - 1).clamp(max=words - 1)
        row, slot = (torch.arange(size, device=s.device) for size in (batch, k))
        row = row[:, None]
        shifted = first[done, s[0], row, slot]
        to_left = s_below[1, s[0], row, slot] + costs[done, 1, s[0], row, slot]
        to_right = s_below[0, s[1], row, slot] + costs[done, 1, s[1], row, slot]
        return torch.stack([shifted, to_left, to_right], dim=-1).float()
