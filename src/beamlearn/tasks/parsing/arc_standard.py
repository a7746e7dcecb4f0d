"""Arc-standard transitions (Nivre 2004): both words of an arc are on the stack."""

from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .actions import TransitionKind
from .gold import Gold
from .stack import ITEM, Stacked
from .system import NONE, TransitionSystem
from .tabular import LEFT, SHIFT, TabularOracle


@final
class ArcStandard(TransitionSystem[Stacked]):
    """A word gets its head when it has all of its dependents: the word above it, or below it.

    SHIFT  the next word goes on the stack
    LEFT   s1 gets s0 as its head and leaves from under it
    RIGHT  s0 gets s1 as its head and leaves
    ROOT   the last word gets the root as its head

    A sentence of n words takes 2n transitions.
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
        return torch.stack([waiting, several, several, some & ~(waiting | several)], dim=-1)

    def advance(self, nodes: Stacked, move: Move, kinds: Int[Tensor, "batch k"]) -> Stacked:
        before = nodes.follow(move)
        # Slots that stay may shift what is not there.
        shifted = before.pushed(before.item(before.front * before.waiting))
        right = before.popped()
        left = torch.cat([before.item(before.s0), right[..., ITEM:]], dim=-1)
        reduced = torch.where((kinds == LEFT)[..., None], left, right)
        return before.become(torch.where((kinds == SHIFT)[..., None], shifted, reduced))

    def words(self, nodes: Stacked) -> Int[Tensor, "batch k 4"]:
        return nodes.visible

    def arcs(self, nodes: Stacked) -> tuple[Int[Tensor, "batch k 4"], Int[Tensor, "batch k 4"]]:
        none, s0, s1 = torch.zeros_like(nodes.s0), nodes.s0, nodes.s1
        dependents = torch.stack([none, s1, s0, s0], dim=-1)
        return dependents, torch.stack([none, s0, s1, none], dim=-1)

    def steps(self, length: int) -> int:
        return 2 * length

    def oracle(self, nodes: Stacked, gold: Gold) -> Oracle:
        return TabularOracle(self, nodes, gold)
