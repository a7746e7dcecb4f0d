"""Visits: the nodes of a trajectory that were extended, as a tree for each example."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from .neighbors import Move


@dataclass(frozen=True)
class VisitedBeams:
    """The beams of one transition."""

    examples: Int[Tensor, " batch"]
    nodes: Int[Tensor, "batch k"]
    """The node in each slot; 0 where none is extended."""


@dataclass(frozen=True)
class Visits:
    """Every node whose neighbors a trajectory looked at, once.

    Nodes are numbered example by example; the initial node is 0, and parents come before their
    children. A node that only pads an example has itself as its only ancestor.
    """

    actions: Int[Tensor, "batch nodes"]
    """The action that leads to the node; 0 for the initial one."""
    depths: Int[Tensor, "batch nodes"]
    """How many actions lead there."""
    ancestors: Bool[Tensor, "batch nodes nodes"]
    """Which nodes are on the way to each, itself among them."""
    slots: Sequence[VisitedBeams]
    """Where they stood, transition by transition."""


def visits_of(batch: int, moves: Sequence[Move]) -> Visits:
    """Number the nodes of a trajectory that went on by `moves` from one beam to the next."""
    device = moves[0].slots.device if moves else None
    examples = torch.arange(batch, device=device)
    counts = torch.ones_like(examples)
    at = torch.zeros(batch, 1, dtype=torch.long, device=device)
    slots = [VisitedBeams(examples, at)]
    found: list[tuple[Tensor, ...]] = []
    for depth, move in enumerate(moves, 1):
        examples, parents = move.keep(examples), move.follow(at)
        new = ~(move.stays | move.finished)
        at = (counts[examples, None] + new.cumsum(dim=-1) - 1).where(new, 0)
        counts = counts.index_add(0, examples, new.sum(dim=-1))
        slots.append(VisitedBeams(examples, at))
        rows = examples[:, None].expand_as(at)
        fields = (rows, at, parents, move.actions, torch.full_like(at, depth))
        found.append(tuple(field[new] for field in fields))
    size = (batch, int(counts.max()) if batch else 1)
    actions, depths = (torch.zeros(size, dtype=torch.long, device=device) for _ in range(2))
    ancestors = torch.eye(size[1], dtype=torch.bool, device=device).repeat(batch, 1, 1)
    for rows, nodes, parents, taken, depth_of in found:
        actions[rows, nodes], depths[rows, nodes] = taken, depth_of
        ancestors[rows, nodes] |= ancestors[rows, parents]
    return Visits(actions, depths, ancestors, slots)
