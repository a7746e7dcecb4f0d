"""Arc-hybrid transitions (Kuhlmann, Gomez-Rodriguez and Satta 2011) and their costs."""

from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .actions import TransitionKind
from .completion import CompletionOracle
from .costs import Account, TransitionOracle
from .gold import Gold
from .stack import Stacked
from .system import NONE, TransitionSystem

SHIFT, LEFT, RIGHT, ROOT = range(4)


@final
class ArcHybrid(TransitionSystem[Stacked]):
    """A word gets its head when it leaves the stack: the next word, or the word below it.

    SHIFT  the next word goes on the stack
    LEFT   s0 gets the next word as its head and leaves
    RIGHT  s0 gets s1 as its head and leaves
    ROOT   the last word gets the root as its head
    """

    kinds = (
        TransitionKind("shift"),
        TransitionKind("left", "word"),
        TransitionKind("right", "word"),
        TransitionKind("root", "root"),
    )
    positions = ("s2", "s1", "s0", "b0")

    def initial(self, lengths: Int[Tensor, " batch"]) -> Stacked:
        return Stacked.initial(lengths)

    def legal(self, nodes: Stacked) -> Bool[Tensor, "batch k 4"]:
        waiting, some, several = nodes.waiting, nodes.s0 != NONE, nodes.s1 != NONE
        return torch.stack([waiting, waiting & some, several, some & ~(waiting | several)], dim=-1)

    def advance(self, nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]) -> Stacked:
        before = nodes.follow(move)
        shifted = before.pushed(before.item(before.front))
        # Slots that stay, whose kinds mean nothing, must not push what is no word.
        pushing = ((kinds == SHIFT) & before.waiting)[..., None]
        return before.become(torch.where(pushing, shifted, before.popped()))

    def words(self, nodes: Stacked) -> Int[Tensor, "batch k 4"]:
        return nodes.visible

    def arcs(self, nodes: Stacked) -> tuple[Int[Tensor, "batch k 4"], Int[Tensor, "batch k 4"]]:
        none, s0 = torch.zeros_like(nodes.s0), nodes.s0
        dependents = torch.stack([none, s0, s0, s0], dim=-1)
        return dependents, torch.stack([none, nodes.front, nodes.s1, none], dim=-1)

    def steps(self, length: int) -> int:
        return 2 * length

    def oracle(self, nodes: Stacked, gold: Gold) -> Oracle:
        if gold.projective:
            return ArcHybridOracle(self, nodes, gold)
        return CompletionOracle(self, nodes, gold, shift=SHIFT)


@final
class ArcHybridOracle(TransitionOracle[Stacked]):
    """c* = arcs of the right tree that are no longer reachable, by counting.

    For a projective tree arcs that are reachable one by one are reachable together (Goldberg
    and Nivre 2013), also with a single root. An arc is lost when

    SHIFT puts its head b0 above its dependent, or its dependent b0 above a word that is not
    its head;
    LEFT or RIGHT give s0 another head, or take s0 away from dependents in the buffer.

    The extra memory says which words are on the stack.
    """

    def started(self) -> Bool[Tensor, "batch 1 words"]:
        return torch.zeros_like(self.gold.heads, dtype=torch.bool)[:, None]

    def initial(self) -> Float[Tensor, " batch"]:
        return self.gold.hopeless

    def after(self, account: Account[Stacked]) -> Float[Tensor, "batch k 4"]:
        nodes, stacked = account.nodes, account.extra
        gold = self.gold.heads[nodes.examples]
        s0, s1, front = nodes.s0, nodes.s1, nodes.front
        next_head = gold.gather(1, front.clamp(max=gold.shape[1] - 1))
        s0_head = gold.gather(1, s0)
        orphaned = (stacked & (gold[:, None] == front[..., None])).sum(dim=-1)
        buried = (next_head == NONE) & (s0 != NONE)
        buried |= stacked.gather(2, next_head.clamp(min=0)[..., None])[..., 0] & (next_head != s0)
        left_behind = self.gold.dependents_from(nodes.examples, s0, front)
        turned_right = left_behind + (s0_head >= front)
        turned_left = left_behind + ((s0_head == s1) | (s0_head > front))
        lost = [orphaned + buried, turned_left, turned_right, torch.zeros_like(s0)]
        return account.errors[..., None] + torch.stack(lost, dim=-1)

    def remember(
        self, account: Account[Stacked], nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]
    ) -> Bool[Tensor, "batch k words"]:
        stacked = move.follow(account.extra)
        gone = move.follow(account.nodes.s0[..., None])
        shifted = (kinds == SHIFT)[..., None]
        word = torch.where(shifted, nodes.s0[..., None], gone)
        return stacked.scatter(2, word, shifted)
