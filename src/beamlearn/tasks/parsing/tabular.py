"""Completion costs of arc-standard parsing (Goldberg, Sartorio and Satta 2014)."""

from functools import cached_property
from typing import final

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.nn.functional import pad

from ...search.neighbors import Move
from .ancestry import Ancestry
from .chart import FAR, NOBODY, Chart
from .costs import Account, TransitionOracle
from .stack import Stacked
from .system import NONE

SHIFT, LEFT, RIGHT, ROOT = range(4)
BYTE = 100
"""For sentences of fewer words, costs fit into a byte."""


@final
class TabularOracle(TransitionOracle[Stacked]):
    """c* = the fewest wrong arcs of any completion, from a table.

    Arcs that are reachable one by one may not be reachable together, so the ways to go on are
    searched. The fragment on top of the stack grows item by item: by the next word of the stack,
    or by the next word of the buffer that matters; one becomes the head of the other.
    Sentences whose right arcs cross take the longer way of `Chart`.

    The extra memory holds the words on the stack, from the top down.
    Paper note: the paper fills a table for every configuration. Here one table, filled from its
    end, gives the costs of all transitions; this takes some more items of the buffer, which may
    be passed over.
    """

    @cached_property
    def ancestry(self) -> Ancestry:
        return Ancestry.of(self.gold.heads)

    @cached_property
    def chart(self) -> Chart | None:
        """What the sentences with crossing arcs need, if there are any."""
        tangled = bool(self.ancestry.tangled.any())
        return Chart(self.gold.heads, self.gold.lengths) if tangled else None

    def started(self) -> Int[Tensor, "batch 1 2"]:
        return torch.zeros_like(self.gold.lengths)[:, None, None].expand(-1, 1, 2)

    def initial(self) -> Float[Tensor, " batch"]:
        # Of several words that belong to the root, one gets it.
        roots = (self.gold.heads == NONE).sum(dim=-1)
        costs = self.gold.hopeless + (roots - 1).clamp(min=0)
        if self.chart is None:
            return costs
        return torch.where(self.ancestry.tangled, self.chart.initial(), costs)

    def after(self, account: Account[Stacked]) -> Float[Tensor, "batch k 4"]:
        """The cheapest kind costs what the hypothesis does; ROOT is never one of several."""
        nodes, stack = account.nodes, account.extra
        ahead = self.ahead(nodes, stack)
        if self.chart is not None:
            rows = self.ancestry.tangled[nodes.examples].nonzero()[:, 0]
            if len(rows):
                ahead[rows] = self.chart.ahead(nodes.examples[rows], stack[rows], nodes.front[rows])
        legal = self.system.legal(nodes)[..., :ROOT]
        ahead = ahead.masked_fill(~legal, FAR)
        return account.errors[..., None] + pad(ahead - ahead.amin(dim=-1, keepdim=True), (0, 1))

    def remember(
        self, account: Account[Stacked], nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]
    ) -> Int[Tensor, "batch k depth"]:
        stack = move.follow(account.extra)
        reduced = pad(stack, (0, 2))[..., 2:]
        below = torch.where((kinds == SHIFT)[..., None], stack, reduced)
        stack = torch.cat([nodes.s0[..., None], below], dim=-1)
        depth = int((stack != NONE).flatten(0, 1).any(dim=0).sum())
        return stack[..., : max(depth, 2)]

    def ahead(
        self, nodes: Stacked, stack: Int[Tensor, "batch k depth"]
    ) -> Float[Tensor, "batch k 3"]:
        """The wrong arcs from here on, if SHIFT, LEFT or RIGHT is next.

        Words of the buffer that no action gives the right head may not be counted.
        """
        batch, k, depth = stack.shape
        words = torch.cat([stack, self.items(nodes, stack)], dim=-1)
        heads = self.gold.heads[nodes.examples].gather(1, words.flatten(1)).view_as(words)
        passing = (heads >= nodes.front[..., None]).flatten(0, 1).T.contiguous()
        passing[:depth] = False
        small = torch.int8 if self.gold.heads.shape[1] < BYTE else torch.int16
        # The table is filled for all hypotheses at once: they are its last axis.
        words, heads = (f.flatten(0, 1).T.to(small).contiguous() for f in (words, heads))
        there = words != NONE
        wrong = (heads[:, None] != words.masked_fill(~there, NOBODY)) & there[:, None]
        rootless = (heads != NONE) & there
        found = table(wrong.to(small), rootless.to(small), passing, depth)
        return found.T.reshape(batch, k, 3).float()

    def items(
        self, nodes: Stacked, stack: Int[Tensor, "batch k depth"]
    ) -> Int[Tensor, "batch k items"]:
        """The words of the buffer that matter, from right to left.

        These are the next word, the words above it and above those on the stack in the right
        tree, and words whose right heads are not in the buffer. All others get their right heads
        within the buffer, or have none that an action could make: that is so whatever is next.
        """
        front = nodes.front[..., None]
        heads = self.gold.heads[nodes.examples]
        words = torch.arange(heads.shape[1], device=heads.device)
        near = torch.cat([front.clamp(max=len(words) - 1), stack], dim=-1)
        above = self.ancestry.above[nodes.examples]
        starts = above.new_zeros(*front.shape[:2], len(words)).scatter_(2, near, 1.0)
        kept = (starts @ above > 0) | (words == front)
        kept |= (heads >= NONE)[:, None] & (heads[:, None] < front)
        kept &= (words >= front) & (words <= nodes.lengths[:, None, None])
        if self.chart is not None:  # tangled sentences need not make the table larger
            kept &= ~self.ancestry.tangled[nodes.examples, None, None]
        place = kept.cumsum(dim=-1)
        count = int(place[..., -1].max())
        place = (count - place).masked_fill(~kept, count)
        found = place.new_zeros(*place.shape[:2], count + 1)
        return found.scatter_(2, place, words.expand_as(place))[..., :count]


def table(
    wrong: Shaped[Tensor, "items items n"],
    rootless: Shaped[Tensor, "items n"],
    passing: Bool[Tensor, "items n"],
    depth: int,
) -> Shaped[Tensor, "3 n"]:
    """The least costs of going on by SHIFT, LEFT and RIGHT.

    Of the items, the first `depth` are the stack from the top down, and the others the buffer
    from right to left. `wrong[d, h]`: what it costs if h gets the dependent d. `rootless[h]`:
    what it costs if h gets the root. `passing[r]`: may r be left to its right head, which is
    further on in the buffer?

    costs[i, h], for i + j = size: the cost of all that follows, once the first i items of the
    stack and the first j of the buffer are one fragment with the head h
      = min of wrong[s, h] + costs'[i + 1, h], wrong[h, s] + costs'[i + 1, s],  s = stack[i]
               wrong[r, h] + costs'[i, h],     wrong[h, r] + costs'[i, r],      r = buffer[j]
               costs'[i, h] if passing[r]
    where costs' is the table for size + 1. An item that is not there is a dependent for free.
    """
    items, _, n = wrong.shape
    far = torch.iinfo(wrong.dtype).max - 1
    costs = wrong.new_full((depth + 2, items, n), far)
    costs[depth] = rootless
    shifted = costs[0, 0]
    flat = costs.view(-1, n)
    turned = wrong.transpose(0, 1)
    passed = wrong.masked_fill(passing[:, None], 0)
    for size in range(items - 1, 0, -1):
        if size <= items - depth:  # SHIFT: the next item that is not passed over joins s0
            r = items - size
            joined = torch.minimum(wrong[r, 0] + costs[1, 0], wrong[0, r] + costs[1, r])
            shifted = joined.minimum(shifted.masked_fill(~passing[r], far))
        low, high = max(1, size - items + depth), min(depth, size) + 1
        to_r = items - 1 - size  # so that r = i + to_r
        at_s, at_r = slice(low, high), slice(low + to_r, high + to_r)
        new_s = flat[(low + 1) * items + low :: items + 1][: high - low, None]
        new_r = flat[low * items + low + to_r :: items + 1][: high - low, None]
        more_s = torch.minimum(wrong[at_s] + costs[low + 1 : high + 1], turned[at_s] + new_s)
        more_r = torch.minimum(passed[at_r] + costs[at_s], turned[at_r] + new_r)
        costs[at_s] = more_s.minimum(more_r)
    return torch.stack([shifted, wrong[1, 0] + costs[2, 0], wrong[0, 1] + costs[2, 1]])
