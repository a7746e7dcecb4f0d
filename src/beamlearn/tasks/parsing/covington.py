"""Covington's transitions (Covington 2001; Nivre 2008), which build any tree, and their costs."""

from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .actions import TransitionKind
from .costs import Account, TransitionOracle
from .gold import Gold
from .system import NONE, Parsed, TransitionSystem

SHIFT, PASS, LEFT, RIGHT, ROOT = range(5)


@dataclass(frozen=True)
class Compared(Parsed):
    """Configurations that compare a word i with a later word j; words after j have no arcs.

    What is known of the arcs goes with every hypothesis, because whether one more closes a cycle
    depends on all of them.
    """

    i: Int[Tensor, "batch k"]
    """`NONE`: no word before j can get an arc from it or to it any more."""
    j: Int[Tensor, "batch k"]
    tops: Int[Tensor, "batch k words"]
    """By word number, the headless word at or above each word; 0 for what is no word."""

    @property
    def numbers(self) -> Int[Tensor, " words"]:
        return torch.arange(self.tops.shape[2], device=self.tops.device)

    @property
    def top_i(self) -> Int[Tensor, "batch k"]:
        return self.tops.gather(2, self.i[..., None])[..., 0]

    @property
    def top_j(self) -> Int[Tensor, "batch k"]:
        return self.tops.gather(2, self.j[..., None])[..., 0]

    @property
    def last(self) -> Bool[Tensor, "batch k"]:
        """Is j the last word?"""
        return self.j == self.lengths[:, None]

    @property
    def others(self) -> Bool[Tensor, "batch k words"]:
        """Which words have no head, but for the top of j's tree; 0 is among them."""
        return (self.tops == self.numbers) & (self.tops != self.top_j[..., None])

    @property
    def passed(self) -> Bool[Tensor, "batch k words"]:
        """Which of the others come after i."""
        return self.others & (self.numbers > self.i[..., None])

    def partner(self, limit: Int[Tensor, "batch k"]) -> Int[Tensor, "batch k"]:
        """The last word before `limit` that can get an arc from j or to it, or `NONE`."""
        foreign = self.tops != self.top_j[..., None]
        possible = torch.where((self.top_j == self.j)[..., None], foreign, self.others)
        return (self.numbers * (possible & (self.numbers < limit[..., None]))).amax(dim=-1)


@final
class Covington(TransitionSystem[Compared]):
    """The words j from left to right are compared with the words i before them, nearest first.

    SHIFT  the next word becomes j
    PASS   there is no arc between i and j (NO-ARC)
    LEFT   i gets j as its head
    RIGHT  j gets i as its head
    ROOT   all words are in one tree: its top gets the root as its head

    No arc gives a word a second head or closes a cycle. Every tree with a single root can be
    built, mostly in several ways: SHIFT does what any number of PASS and then SHIFT do.

    The last word must bring all trees together. It can become the head of their tops, and once
    go below another tree, even if the top of that has been passed. PASS and RIGHT are illegal
    where this would no longer suffice.
    Paper note: there, j meets all words before it. Here it meets those that an arc is possible
    with, for fewer ways to the same tree.
    """

    kinds = (
        TransitionKind("shift"),
        TransitionKind("pass"),
        TransitionKind("left", "word"),
        TransitionKind("right", "word"),
        TransitionKind("root", "root"),
    )
    positions = ("i-1", "i", "j", "j+1")

    def initial(self, lengths: Int[Tensor, " batch"]) -> Compared:
        examples = torch.arange(len(lengths), device=lengths.device)
        most = int(lengths.max()) if len(lengths) else 0
        words = torch.arange(most + 1, device=lengths.device)
        j = lengths.clamp(max=2)[:, None]  # the first word has none before it
        i = (j - 1).clamp(min=NONE)
        return Compared(examples, lengths, i, j, (words * (words <= lengths[:, None]))[:, None])

    def legal(self, nodes: Compared) -> Bool[Tensor, "batch k 5"]:
        i, j, tops, last, top_i = nodes.i, nodes.j, nodes.tops, nodes.last, nodes.top_i
        some, free_i, free_j = i != NONE, top_i == i, nodes.top_j == j
        # At the end: is there a passed top, so that j must go below it, and can j after PASS?
        owing = nodes.passed.any(dim=-1)
        below = (tops >= i[..., None]) & (tops != j[..., None]) & (nodes.numbers < i[..., None])
        payable = free_j & ~(owing & free_i) & below.any(dim=-1)
        passing = (nodes.partner(i) != NONE) & (~last | ~(owing | free_i) | payable)
        right = some & free_j & ~(last & owing & (top_i <= i))
        root = last & ~some & (j != NONE)
        return torch.stack([~last, passing, some & free_i, right, root], dim=-1)

    def advance(self, nodes: Compared, move: Move, kinds: Int[Tensor, "batch k"]) -> Compared:
        examples, lengths = move.keep(nodes.examples), move.keep(nodes.lengths)
        before = Compared(examples, lengths, *map(move.follow, (nodes.i, nodes.j, nodes.tops)))
        i, j, tops = before.i, before.j, before.tops
        left, shift = kinds == LEFT, kinds == SHIFT
        lower, upper = torch.where(left, i, j), torch.where(left, before.top_j, before.top_i)
        joined = (tops == lower[..., None]) & (left | (kinds == RIGHT))[..., None]
        tops = torch.where(joined, upper[..., None], tops)
        j = torch.minimum(j + shift, lengths[:, None])
        after = Compared(examples, lengths, i, j, tops)
        return replace(after, i=after.partner(torch.where(shift, j, i)))

    def words(self, nodes: Compared) -> Int[Tensor, "batch k 4"]:
        following = (nodes.j + 1).masked_fill(nodes.last, NONE)
        return torch.stack([(nodes.i - 1).clamp(min=NONE), nodes.i, nodes.j, following], dim=-1)

    def arcs(self, nodes: Compared) -> tuple[Int[Tensor, "batch k 5"], Int[Tensor, "batch k 5"]]:
        none, i, j = torch.zeros_like(nodes.i), nodes.i, nodes.j
        dependents = torch.stack([none, none, i, j, nodes.top_j], dim=-1)
        return dependents, torch.stack([none, none, j, i, none], dim=-1)

    def steps(self, length: int) -> int:
        return length * (length + 1) // 2

    def oracle(self, nodes: Compared, gold: Gold) -> Oracle:
        return CovingtonOracle(self, nodes, gold)


@final
class CovingtonOracle(TransitionOracle[Compared]):
    """c* = wrong arcs + cycles of right arcs within reach + what a single root costs.

    Let each headless word point to its right head or, where that is out of reach, to itself. With
    the arcs made, each cycle must lose one arc, and no more need be lost (Gomez-Rodriguez and
    Fernandez-Gonzalez 2015) if any number of words may have the root as their head.
    Paper note: only one may here. While words follow j this costs 0 or 1 (`torn`). The last word
    has few choices, and `at_last` tries them all.
    """

    def started(self) -> None:
        return None

    def initial(self) -> Float[Tensor, " batch"]:
        return self.gold.hopeless

    def after(self, account: Account[Compared]) -> Float[Tensor, "batch k 5"]:
        nodes = account.nodes
        batch, k = nodes.i.shape
        # Each slot becomes one for each transition but ROOT, which leaves nothing to be decided.
        kinds = torch.arange(ROOT, device=nodes.i.device).repeat(batch, k)
        slots = torch.arange(k, device=nodes.i.device).repeat_interleave(ROOT).expand(batch, -1)
        none = torch.zeros_like(kinds, dtype=torch.bool)
        following = self.system.advance(nodes, Move(None, slots, kinds, none, none), kinds)
        costs = torch.nn.functional.pad(self.ahead(following).view(batch, k, ROOT), (0, 1))
        dependents, heads = self.system.arcs(nodes)
        right = self.gold.heads[nodes.examples[:, None, None], dependents] == heads
        costs = costs + ((dependents != NONE) & ~right)
        # The cheapest neighbor costs as much as the hypothesis itself.
        legal = self.system.legal(nodes)
        least = costs.masked_fill(~legal, torch.inf).amin(dim=-1, keepdim=True)
        return account.errors[..., None] + torch.where(legal, costs - least, 0.0)

    def remember(
        self, account: Account[Compared], nodes: Compared, move: Move, kinds: Int[Tensor, "batch k"]
    ) -> None:
        return None

    def ahead(self, nodes: Compared) -> Float[Tensor, "batch k"]:
        """The fewest wrong arcs that are yet to be made."""
        heads = self.gold.heads[nodes.examples][:, None].expand_as(nodes.tops)
        return torch.where(nodes.last, at_last(nodes, heads), before_last(nodes, heads))


def before_last(nodes: Compared, heads: Int[Tensor, "batch k words"]) -> Float[Tensor, "batch k"]:
    """The fewest wrong arcs yet to be made while words follow j, by following `heads`."""
    tops, words, i, j = nodes.tops, nodes.numbers, nodes.i[..., None], nodes.j[..., None]
    later, earlier = torch.maximum(heads, words), torch.minimum(heads, words)
    open_ = (later > j) | ((later == j) & (earlier <= i)) | (heads == NONE)
    within_reach = open_ & (heads >= NONE) & (tops == words)
    jump = torch.where(within_reach, tops.gather(2, heads.clamp(min=NONE)), tops)
    most = jump  # the largest word that 1, 2, 4, ... jumps come to
    for _ in range((len(words) - 1).bit_length()):
        most = torch.maximum(most, most.gather(2, jump))
        jump = jump.gather(2, jump)
    cycles = ((most == words) & (words != NONE)).sum(dim=-1)
    rooted = (within_reach & (heads == NONE)).any(dim=-1)
    return (cycles + (rooted & torn(nodes, most.gather(2, jump)))).float()


def torn(nodes: Compared, ends: Int[Tensor, "batch k words"]) -> Bool[Tensor, "batch k"]:
    """Does it cost one more arc to bring all words below the right root?

    `ends` holds the largest word of the cycle that each word leads to; `NONE`: the right root.
    It costs none if a word after j leads to the right root, or is in a cycle, where it can lose
    its arc: that word can join all trees. Else an arc of j must connect the right root with the
    tree of a word after j, whose top is j itself or a word up to i that can get j as its head.
    For this j leads to the right root, or can lose its arc and go below a word up to i that does.
    """
    words, i, j = nodes.numbers, nodes.i[..., None], nodes.j[..., None]
    end = ends.gather(2, j)
    rooted = ends == NONE
    late = (words > j) & (words <= nodes.lengths[:, None, None])
    joins = late & (rooted | (ends > j))
    links = late & ((ends <= i) | (ends == j))
    goes_below = (end == j) & rooted & (words != NONE) & (words <= i)
    connects = links.any(dim=-1) & ((end[..., 0] == NONE) | goes_below.any(dim=-1))
    return ~(joins.any(dim=-1) | connects)


def at_last(nodes: Compared, heads: Int[Tensor, "batch k words"]) -> Float[Tensor, "batch k"]:
    """The fewest wrong arcs yet to be made when j is the last word.

    It is the minimum over the words that j may get as its head (0: none). The top above that
    word gets the root as its head, all other tops get j.
    """
    tops, words, i, j = nodes.tops, nodes.numbers, nodes.i[..., None], nodes.j[..., None]
    top_j, stays = nodes.top_j[..., None], words == NONE
    above = heads.gather(2, torch.where(stays, top_j, tops))
    cost = (above != NONE).float()
    cost = torch.where(stays, cost, cost + (heads.gather(2, j) != words) - (above != j).float())
    owing = nodes.passed.sum(dim=-1, keepdim=True)
    goes_below = (top_j == j) & (tops != j) & (words <= i) & (owing <= (tops > i))
    cost = cost.masked_fill(~torch.where(stays, owing == 0, goes_below), torch.inf)
    tops_below = nodes.others & (words != NONE) & (heads != j)
    return tops_below.sum(dim=-1) + cost.amin(dim=-1)
