"""Completion costs of arc-hybrid and arc-eager transitions, by dynamic programming."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from ...search.neighbors import Move
from .actions import LOST
from .costs import Account, TransitionOracle
from .gold import Gold
from .stack import ITEM, PLACE, Pool, Stacked, look_up
from .system import NONE, TransitionSystem

FAR = 10_000
"""More wrong heads than a sentence has words; three times as many still are a short number."""


@final
class CompletionOracle(TransitionOracle[Stacked]):
    """c* = wrong arcs + least number of wrong heads among the words that have none yet.

    Right for any heads. Arcs that are reachable one by one need not be reachable together: not
    where they cross, and in arc-eager not even in a projective tree. There a word d that was
    shifted onto its head h can still get it by ATTACH at the end, but then no later word can
    get h, which lies below d until then.

    Of an item p of a stack, with the word s and the item q below it, the cost to go when p is on
    top and j is the front is

    H_p[j] = min over j' >= j of W[s, j, j'] + leave_p[j'] + H_q[j']

    W (see `stretches`) is what the words j..j'-1 cost, which come and go above s. Then s leaves:
    arc-hybrid gives it q or, while there are words, j' as its head; arc-eager gives it j' or, at
    the end, q, and nothing where it has its head. Without a q there is the root, at the end. With
    no items at all, the next word j is shifted: H_ground[j] = H_p[j + 1], where p is j alone.

    H_p never changes, so it is computed once, when p goes on a stack; the extra memory is a pool
    that holds it at the place of p. For sentences of moderate length: W has n^3 short numbers
    for each, and takes time n^4 to compute.

    `shift` and `right` are the kinds that push a word without and with its head; arc-hybrid has
    only the first.
    """

    def __init__(
        self,
        system: TransitionSystem[Stacked],
        nodes: Stacked,
        gold: Gold,
        *,
        shift: int,
        right: int | None = None,
    ) -> None:
        super().__init__(system, nodes, gold)
        self.shift, self.right = shift, right
        self.heads = pad(gold.heads, (0, 1), value=LOST)
        fronts = torch.arange(self.heads.shape[1], device=self.heads.device)
        self.wrong = (self.heads[..., None] != fronts).short()
        """c(h -> d) by d, then h; 0 is the root, and the end is the right head of no word."""
        self.stretches = stretches(self.wrong)
        spans = self.stretches.diagonal(1, dim1=1, dim2=2).transpose(1, 2)
        self.spans = pad(spans, (0, 0, 0, 1), value=FAR)
        """V[j, m]: what goes on above a new word j until the front is m."""
        self.ended = fronts == gold.lengths[:, None] + 1
        """At which front the buffer is empty."""
        self.ground = self._ground()

    def _ground(self) -> Int[Tensor, "batch fronts"]:
        """H of the empty stack, from the last word to the first."""
        ground = torch.where(self.ended, 0, FAR).short()
        nobody = torch.zeros_like(self.nodes.s0)
        for word in range(ground.shape[1] - 2, 0, -1):
            leave = self._leave(self.nodes.examples, nobody + word, nobody)[:, 0]
            alone = (self.spans[:, word] + leave + ground).amin(dim=-1)
            ground[:, word] = torch.where(word <= self.gold.lengths, alone, ground[:, word])
        return ground

    def _leave(
        self,
        examples: Int[Tensor, " batch"],
        word: Int[Tensor, "batch k"],
        below: Int[Tensor, "batch k"],
    ) -> Int[Tensor, "batch k fronts"]:
        """What it costs a word without a head to leave at each front; `below` may be no word."""
        to_front = look_up(self.wrong, examples, word)
        to_below = (self.heads[examples[:, None], word] != below).short()[..., None]
        possible = self.ended[examples][:, None]
        if self.right is None:
            possible = possible | (below != NONE)[..., None]
        return torch.where(possible, torch.minimum(to_front, to_below), to_front)

    def _to_go(self, pool: Pool, nodes: Stacked, item: int) -> Int[Tensor, "batch k fronts"]:
        """H of s0, s1 or s2 at each front."""
        return pool.get(nodes.examples, nodes.fields[..., item * ITEM + PLACE])

    def initial(self) -> Float[Tensor, " batch"]:
        return self.ground[:, 1].float()

    def started(self) -> Pool:
        return Pool(self.ground[:, None], 1)

    def after(self, account: Account[Stacked]) -> Float[Tensor, "batch k kinds"]:
        nodes, examples, front = account.nodes, account.nodes.examples, account.nodes.front
        top, below = (self._to_go(account.extra, nodes, item) for item in range(2))
        dependents, heads = self.system.arcs(nodes)
        wrong = self.heads[examples[:, None, None], dependents] != heads
        now, popped = (costs.gather(2, front[..., None]) for costs in (top, below))
        costs = popped + (wrong & (dependents != NONE))
        above = look_up(self.spans, examples, front) + top
        shifted = above + self._leave(examples, front, nodes.s0)
        costs[..., self.shift] = shifted.amin(dim=-1)
        if self.right is not None:
            costs[..., self.right] = above.amin(dim=-1) + wrong[..., self.right]
        return account.errors[..., None] + (costs - now)

    def remember(
        self, account: Account[Stacked], nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]
    ) -> Pool:
        pool: Pool = account.extra
        examples = nodes.examples
        leave = self._leave(examples, nodes.s0, nodes.s1)
        leave = leave.masked_fill(nodes.attached[..., None], 0)
        then = leave + self._to_go(pool, nodes, 1)
        above = look_up(self.stretches, examples, nodes.s0)
        costs = (above + then[..., None, :]).amin(dim=-1)
        # Where nothing was pushed this is the place of no item, and it is never read.
        return pool.put(account.nodes.used, examples, costs)


def stretches(
    wrong: Int[Tensor, "batch fronts fronts"],
) -> Int[Tensor, "batch fronts fronts fronts"]:
    """W[i, j, j']: the fewest wrong heads of the words j..j'-1, which come and go above i.

    W[i, j, j] = 0
    W[i, j, j'] = min over m in (j, j'] of V[j, m] + min(c(i -> j), c(m -> j)) + W[i, m, j']

    V[j, m] = W[j, j + 1, m] is what goes on above j until it leaves, at the front m, with the
    head i or m. c(h -> d) = wrong[d, h]. It is 1 where h is the end and no word: no better than i,
    which is always possible. In arc-eager j has the head i from its start or, where m is the end,
    gets it then, so that W is the same as in arc-hybrid.
    Entries with j' < j hold `FAR`, those with j <= i mean nothing.
    """
    fronts = wrong.shape[1]
    found = wrong.new_full((len(wrong), fronts, fronts, fronts), FAR)
    found.diagonal(dim1=2, dim2=3).zero_()
    for j in range(fronts - 2, 0, -1):
        spans = found[:, j, j + 1, j + 1 :]
        arcs = torch.minimum(wrong[:, j, :j, None], wrong[:, j, None, j + 1 :])
        first = spans[:, None] + arcs  # by i, then m
        found[:, :j, j, j + 1 :] = (first[..., None] + found[:, :j, j + 1 :, j + 1 :]).amin(dim=2)
    return found
