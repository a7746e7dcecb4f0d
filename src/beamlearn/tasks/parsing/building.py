"""From actions back to trees, for all hypotheses at once."""

import torch
from jaxtyping import Int
from torch import Tensor

from ...search.neighbors import Move
from .actions import LOST, Actions
from .system import NONE, AnySystem


def build(
    system: AnySystem,
    actions: Actions,
    lengths: Int[Tensor, " batch"],
    taken: Int[Tensor, "batch k steps"],
) -> tuple[Int[Tensor, "batch k words"], Int[Tensor, "batch k words"]]:
    """The heads of words, and the actions that gave them, after `taken`; -1: no action.

    Both are by word number, from 0 on; `LOST` where a word has no head yet.
    """
    batch, k, steps = taken.shape
    shape = (batch, k, int(lengths.max()) + 1 if batch else 1)
    heads, makers = (torch.full(shape, LOST, device=taken.device) for _ in range(2))
    slots = torch.arange(k, device=taken.device).expand(batch, k)
    nodes = system.initial(lengths)
    for step in range(steps):
        chosen = taken[..., step]
        kinds = actions.kind_of[chosen.clamp(min=0)]
        dependents, found = (
            field.expand(batch, k, -1).gather(2, kinds[..., None]) for field in system.arcs(nodes)
        )
        dependents = dependents.masked_fill((chosen < 0)[..., None], NONE)
        heads.scatter_(2, dependents, found)
        makers.scatter_(2, dependents, chosen[..., None])
        if step < steps - 1:
            parents = slots if step else torch.zeros_like(slots)  # one slot at first
            move = Move(None, parents, chosen.clamp(min=0), chosen < 0, chosen < 0)
            nodes = system.advance(nodes, move, kinds)
    heads[..., NONE] = makers[..., NONE] = LOST
    return heads, makers
