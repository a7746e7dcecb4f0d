"""A whole search space, node by node, and the brute-force oracle that this makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .neighbors import Move
from .oracle import Oracle
from .space import Expansion, SearchSpace

Cost = Callable[[int, Any], float]
"""The cost of an output of an example."""


@dataclass(frozen=True)
class Level:
    """All nodes at one depth, each example in a row of slots."""

    nodes: Any
    legal: Bool[Tensor, "batch slots a"]
    terminal: Bool[Tensor, "batch slots a"]
    child: Int[Tensor, "batch slots a"]
    """The slot of each non-terminal child at the next level."""
    move: Move | None
    """How the next level follows from this one; None at the last."""


class TooLargeError(ValueError):
    """A space has too many nodes to list them."""


def levels(space: SearchSpace[Any], limit: int) -> list[Level]:
    """Walk through all nodes of a space, depth by depth."""
    nodes = space.initial()
    expansion = space.expand(nodes)
    there = torch.ones(len(space), 1, dtype=torch.bool, device=expansion.terminal.device)
    found: list[Level] = []
    while not found or bool(there.any()):
        legal, terminal = full_size(space.expand(nodes), there)
        inner = (legal & ~terminal).flatten(1)
        width = int(inner.sum(dim=-1).max()) if inner.numel() else 0
        if width * len(space) > limit or len(found) > limit:
            raise TooLargeError(
                f"A space can be listed if it has at most `limit` = {limit:,} nodes at each depth "
                "and at most that many depths, but this one has more; use a smaller example, "
                "or raise `limit`."
            )
        order = inner.to(torch.int8).argsort(dim=-1, descending=True, stable=True)[:, :width]
        child = (inner.cumsum(dim=-1) - 1).masked_fill(~inner, -1).view_as(legal)
        actions = legal.shape[-1]
        there = inner.gather(-1, order)
        finished = torch.zeros_like(there)
        move = Move(None, order // actions, order % actions, stays=~there, finished=finished)
        found.append(Level(nodes, legal, terminal, child, move if width else None))
        if width:
            nodes = space.advance(nodes, move)
    return found


def full_size(
    expansion: Expansion, there: Bool[Tensor, "batch slots"]
) -> tuple[Bool[Tensor, "batch slots a"], Bool[Tensor, "batch slots a"]]:
    """Legal and terminal actions at full size."""
    shape = (*there.shape, expansion.actions)
    legal = there[..., None].expand(shape)
    if expansion.legal is not None:
        legal = legal & expansion.legal
    return legal, legal & expansion.terminal


@final
class BruteForceOracle(Oracle):
    """Completion costs of a small space of any kind, from the costs of its outputs alone.

    Lists all nodes once: c*(v) is the minimum of `cost(example, output)` over the terminals
    below v. For tests, and for spaces that are small enough.
    """

    def __init__(self, space: SearchSpace[Any], cost: Cost, *, limit: int = 100_000) -> None:
        self.space = space
        self.levels = levels(space, limit)
        leaves = [terminal_costs(space, self.levels, d, cost) for d in range(len(self.levels))]
        self.tables = back_up(self.levels, leaves)
        self.roots = self.tables[0].amin(dim=(-1, -2))
        for example in (~self.levels[0].legal.any(dim=-1)[:, 0]).nonzero()[:, 0].tolist():
            # The initial node is itself terminal.
            self.roots[example] = cost(example, space.outputs([example], [[]])[0])

    def initial(self) -> Float[Tensor, " batch"]:
        return self.roots

    def start(self) -> "NodeLocation":
        rows = torch.arange(len(self.space), device=self.roots.device)
        return NodeLocation(0, rows, torch.zeros_like(rows)[:, None])

    def costs(self, memory: "NodeLocation", nodes: Any) -> Float[Tensor, "batch k a"]:
        table = self.tables[memory.depth][memory.rows[:, None], memory.slots]
        # A level may have nodes with more neighbors than any in these beams.
        return table[..., : self.space.expand(nodes).actions]

    def advance(self, memory: "NodeLocation", nodes: Any, move: Move) -> "NodeLocation":
        rows = move.keep(memory.rows)
        slots = move.follow(memory.slots)
        child = self.levels[memory.depth].child[rows[:, None], slots, move.actions]
        # Past the last level only finished hypotheses are left, and their costs are not read.
        return NodeLocation(min(memory.depth + 1, len(self.levels) - 1), rows, child.clamp(min=0))


@dataclass(frozen=True)
class NodeLocation:
    """Where the nodes of the current beams stand in the list of all nodes."""

    depth: int
    rows: Int[Tensor, " batch"]
    slots: Int[Tensor, "batch k"]


def actions_to(found: Sequence[Level], depth: int, example: int, slot: int) -> list[int]:
    """The actions that lead to a node."""
    actions = []
    for level in reversed(found[:depth]):
        assert level.move is not None
        actions.append(int(level.move.actions[example, slot]))
        slot = int(level.move.slots[example, slot])
    return actions[::-1]


def terminal_costs(
    space: SearchSpace[Any], found: Sequence[Level], depth: int, cost: Cost
) -> Float[Tensor, "batch slots a"]:
    """Costs of the terminals behind the nodes of one level; infinite for everything else."""
    terminal = found[depth].terminal
    table = torch.full(terminal.shape, torch.inf, dtype=torch.float64, device=terminal.device)
    entries = terminal.nonzero().tolist()
    examples = [example for example, _, _ in entries]
    paths = [
        [*actions_to(found, depth, example, slot), action] for example, slot, action in entries
    ]
    outputs = space.outputs(examples, paths)
    values = [float(cost(e, output)) for e, output in zip(examples, outputs, strict=True)]
    table[terminal] = torch.tensor(values, dtype=torch.float64, device=terminal.device)
    return table


def back_up(found: Sequence[Level], leaves: Sequence[Tensor]) -> list[Tensor]:
    """c* of all neighbors of all nodes: c*(v) = min over v' of c*(v'), from the leaves up."""
    tables = list(leaves)
    for depth in range(len(tables) - 2, -1, -1):
        child = found[depth].child
        below = tables[depth + 1].amin(dim=-1)
        values = below.gather(-1, child.clamp(min=0).flatten(1)).view_as(child)
        tables[depth] = torch.where(child >= 0, values, tables[depth])
    return tables
