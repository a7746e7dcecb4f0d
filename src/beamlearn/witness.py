"""What is to be told of a transition: where it led, what it lost, and what took that place."""

from dataclasses import dataclass

import torch

from .beam import Step, policy
from .neighbors import Neighbors
from .space import Finish
from .trace import Row


@dataclass(frozen=True)
class Candidate:
    """A neighbor of a beam."""

    parent: int
    """The slot that it comes from."""
    action: int
    moves: bool
    """Does it take the action, or is it finished?"""
    score: float
    cost: float | None
    """c*, where there are right answers."""


@dataclass(frozen=True)
class Lost:
    """The cheapest neighbor, which the learned policy drops; and the last one that it keeps."""

    cheapest: Candidate
    rank: int
    """Its place by score, from 1."""
    rise: float
    """c(b, b') of the learned policy."""
    rival: Candidate


def lost(neighbors: Neighbors, row: int, width: int, finish: Finish, tolerance: float) -> Lost:
    """What falls out of the beam in a row of the batch; of equally cheap neighbors the best one."""
    scores = neighbors.fill(neighbors.any_scores.detach(), -torch.inf)[row]
    costs = neighbors.fill(neighbors.any_costs, torch.inf)[row]
    learned = policy(neighbors, width, finish).singleton()
    kept = learned.index[row][learned.kept[row]]
    order = scores.argsort(descending=True, stable=True)
    rank = int((costs[order] <= costs.min() + tolerance).nonzero()[0, 0])

    def candidate(index: int) -> Candidate:
        parent, action = divmod(index, neighbors.actions)
        moves = not bool(neighbors.finished[row, parent])
        return Candidate(parent, action, moves, float(scores[index]), float(costs[index]))

    return Lost(
        cheapest=candidate(int(order[rank])),
        rank=rank + 1,
        rise=float(costs[kept].min() - costs.min()),
        rival=candidate(int(kept[-1])),
    )


@dataclass(frozen=True)
class Seen:
    """One transition of one example."""

    row: Row
    """Its hypotheses; of the last transition, the n-best list."""
    costs: list[float] | None = None
    """c* of each, where there are right answers."""
    lost: Lost | None = None
    """What fell out, if the cost rises."""

    @property
    def candidates(self) -> list[tuple[Candidate, bool]]:
        """The hypotheses, and whether each is in the beam."""
        row, costs = self.row, self.costs
        return [
            (
                Candidate(
                    parent=row.slots[place],
                    action=row.actions[place],
                    moves=not row.stays[place],
                    score=row.scores[place],
                    cost=None if costs is None else costs[place],
                ),
                row.kept[place],
            )
            for place, ranked in enumerate(row.ranked)
            if ranked
        ]


def witness(
    step: Step,
    neighbors: Neighbors,
    row: int,
    width: int,
    finish: Finish,
    *,
    increased: bool,
    tolerance: float,
) -> Seen:
    """Look at a transition between neighbors with costs, in a row of the batch.

    A terminal beam holds the result alone; if the learned policy has it, too, the others that it
    ranks are listed with it. Where a strategy stops, the last beam need not be terminal.
    """
    index = step.slots[row] * neighbors.actions + step.actions[row]
    index, kept = index[step.ranked[row]], step.kept[row][step.ranked[row]]
    if bool(step.ended[row]):
        learned = policy(neighbors, width, finish)
        ranked = learned.index[row][learned.kept[row]]
        if bool(learned.terminal[row]) and int(ranked[0]) == int(index[0]):
            index, kept = ranked, torch.arange(len(ranked), device=ranked.device) == 0
    parents = index // neighbors.actions
    moved = ~neighbors.finished[row][parents]
    found = Row(
        slots=parents.tolist(),
        actions=(index - parents * neighbors.actions).tolist(),
        scores=neighbors.any_scores.detach()[row][index].tolist(),
        ranked=[True] * len(index),
        kept=kept.tolist(),
        stays=(~moved).tolist(),
    )
    fallen = lost(neighbors, row, width, finish, tolerance) if increased else None
    return Seen(found, neighbors.any_costs[row][index].tolist(), fallen)
