"""Arc-eager transitions (Nivre 2003), in a variant that builds only trees with one root."""

from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .actions import TransitionKind
from .completion import CompletionOracle
from .gold import Gold
from .stack import Stacked
from .system import NONE, TransitionSystem

SHIFT, LEFT, RIGHT, REDUCE, ATTACH, ROOT = range(6)


@final
class ArcEager(TransitionSystem[Stacked]):
    """A word may get its head as soon as both are next to each other, and leave the stack later.

    SHIFT   the next word goes on the stack without a head
    LEFT    s0, without a head, gets the next word as its head and leaves
    RIGHT   the next word gets s0 as its head and goes on the stack
    REDUCE  s0, which has its head, leaves
    ATTACH  the buffer is empty: s0, without a head, gets s1 as its head and leaves
    ROOT    the last word gets the root as its head

    Every word goes on the stack once and leaves it once: 2n transitions. The lowest word of a
    stack was shifted onto an empty one and has no head before it leaves.
    Paper note: there, words without a head at the end are roots; ATTACH leaves only one of them.
    """

    kinds = (
        TransitionKind("shift"),
        TransitionKind("left", "word"),
        TransitionKind("right", "word"),
        TransitionKind("reduce"),
        TransitionKind("attach", "word"),
        TransitionKind("root", "root"),
    )
    positions = ("s2", "s1", "s0", "b0")

    def initial(self, lengths: Int[Tensor, " batch"]) -> Stacked:
        return Stacked.initial(lengths)

    def legal(self, nodes: Stacked) -> Bool[Tensor, "batch k 6"]:
        waiting, some, several = nodes.waiting, nodes.s0 != NONE, nodes.s1 != NONE
        attached, ending = nodes.attached, some & ~waiting
        return torch.stack(
            [
                waiting,
                waiting & some & ~attached,
                waiting & some,
                some & attached,
                ending & several & ~attached,
                ending & ~several,
            ],
            dim=-1,
        )

    def advance(self, nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]) -> Stacked:
        before = nodes.follow(move)
        item = before.item(before.front, attached=kinds == RIGHT)
        # Slots that stay, whose kinds mean nothing, must not push what is no word.
        pushing = ((kinds == SHIFT) | (kinds == RIGHT)) & before.waiting
        return before.become(torch.where(pushing[..., None], before.pushed(item), before.popped()))

    def words(self, nodes: Stacked) -> Int[Tensor, "batch k 4"]:
        return nodes.visible

    def arcs(self, nodes: Stacked) -> tuple[Int[Tensor, "batch k 6"], Int[Tensor, "batch k 6"]]:
        none, s0, front = torch.zeros_like(nodes.s0), nodes.s0, nodes.front
        dependents = [none, s0, front * nodes.waiting, none, s0, s0]
        heads = [none, front, s0, none, nodes.s1, none]
        return torch.stack(dependents, dim=-1), torch.stack(heads, dim=-1)

    def steps(self, length: int) -> int:
        return 2 * length

    def oracle(self, nodes: Stacked, gold: Gold) -> Oracle:
        return CompletionOracle(self, nodes, gold, shift=SHIFT, right=RIGHT)
