"""What happened in the search of one example, beam by beam, in plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from .beam import Step, policy
from .neighbors import Neighbors
from .space import Finish, SearchSpace
from .trace import TransitionRow

TOLERANCE = 1e-6
"""Costs that differ by less are equal."""


@dataclass(frozen=True)
class HistoryNode:
    """A hypothesis in a beam."""

    parent: int | None
    """Its place in the beam before; None for the initial node."""
    name: str
    """What its last action is called."""
    moved: bool
    """Did it take that action at this transition? Finished hypotheses wait for the others."""
    score: float
    added: float
    """What the transition added to the score."""
    cost: float | None
    """c*, where the right answers are known."""
    kept: bool
    """Is it in the beam? Others are only on the n-best list of the last transition."""


@dataclass(frozen=True)
class Dropped:
    """The cheapest neighbor of a beam, at a transition at which the learned policy drops it."""

    step: int
    """The beam that it is missing in, counted from 0."""
    node: HistoryNode
    rank: int
    """Its place among all neighbors by their scores, from 1."""
    increase: float
    """c(b, b') of the learned policy: how much more the cheapest node that it keeps costs."""
    rival: HistoryNode
    """The node in the last place of the beam, which pushed it out."""


@dataclass(frozen=True)
class History:
    """The beams b_1, ..., b_h of one search; the last one with its n-best list."""

    beams: tuple[tuple[HistoryNode, ...], ...]
    drops: tuple[Dropped, ...] = ()
    """Where the cheapest hypothesis fell out, if the right answers are known; the first is where
    the best possible output was lost."""

    def ancestors(self, step: int, place: int) -> list[int]:
        """The places, from the initial beam on, of the hypotheses that led to one."""
        places = [place]
        for beam in self.beams[step:0:-1]:
            parent = beam[places[-1]].parent
            assert parent is not None  # only the initial node has none
            places.append(parent)
        return places[::-1]

    @cached_property
    def winners(self) -> list[int]:
        """The places of the hypotheses that led to the result."""
        return self.ancestors(len(self.beams) - 1, 0)

    def path(self, step: int, node: HistoryNode) -> list[str]:
        """The names of the actions that led to a hypothesis, which may have fallen out there."""
        if node.parent is None:
            return []
        beams = zip(self.beams, self.ancestors(step - 1, node.parent), strict=False)
        return [one.name for one in [*(beam[at] for beam, at in beams), node] if one.moved]

    @property
    def least_cost(self) -> float | None:
        """What the best possible output costs."""
        return self.beams[0][0].cost

    def can_be_best(self, node: HistoryNode) -> bool:
        """Can a hypothesis still become the best possible output, as far as is known?"""
        least = self.least_cost
        return least is not None and node.cost is not None and node.cost - least <= TOLERANCE

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each hypothesis of each beam, as `pandas.DataFrame` takes them."""
        return [
            {
                "step": step,
                "place": place,
                "parent": node.parent,
                "action": node.name,
                "moved": node.moved,
                "score": node.score,
                "added": node.added,
                "cost": node.cost,
                "kept": node.kept,
                "winner": place == winner,
            }
            for step, (beam, winner) in enumerate(zip(self.beams, self.winners, strict=True))
            for place, node in enumerate(beam)
        ]


class Recorder:
    """Write the history of one example, transition by transition."""

    def __init__(self, space: SearchSpace[Any], example: int, cost: float | None = None) -> None:
        self.space, self.example = space, example
        self.beams: list[tuple[HistoryNode, ...]] = [
            (HistoryNode(None, "", False, 0.0, 0.0, cost, True),)
        ]
        self.drops: list[Dropped] = []
        self.paths: list[list[int]] = [[]]
        """The actions that led to each node of the last beam."""

    def add(self, row: TransitionRow, costs: Sequence[float] | None = None) -> None:
        """Record a transition: where it led, and c* of each node if that is known."""
        places = [place for place, ranked in enumerate(row.ranked) if ranked]
        beam = tuple(
            self.node(
                row.slots[place],
                row.actions[place],
                moved=not row.stays[place],
                score=row.scores[place],
                cost=None if costs is None else costs[place],
                kept=row.kept[place],
            )
            for place in places
        )
        self.paths = [
            self.paths[row.slots[place]] + [row.actions[place]] * (not row.stays[place])
            for place in places
        ]
        self.beams.append(beam)

    def add_dropped(
        self,
        neighbors: Neighbors,
        row: int,
        width: int,
        finish: Finish,
        tolerance: float,
        final_width: int = 1,
    ) -> None:
        """Record what the next transition drops; of equally cheap neighbors the best-scored."""
        scores = neighbors.fill(neighbors.unmasked_scores.detach(), -torch.inf)[row]
        costs = neighbors.fill(neighbors.unmasked_costs, torch.inf)[row]
        learned = policy(neighbors, width, finish).final_beam(final_width)
        kept = learned.index[row][learned.kept[row]]
        order = scores.argsort(descending=True, stable=True)
        rank = int((costs[order] <= costs.min() + tolerance).nonzero()[0, 0])

        def node(index: int, *, kept: bool) -> HistoryNode:
            parent, action = divmod(index, neighbors.actions)
            moved = not bool(neighbors.finished[row, parent])
            score, cost = float(scores[index]), float(costs[index])
            return self.node(parent, action, moved=moved, score=score, cost=cost, kept=kept)

        self.drops.append(
            Dropped(
                step=len(self.beams),
                node=node(int(order[rank]), kept=False),
                rank=rank + 1,
                increase=float(costs[kept].min() - costs.min()),
                rival=node(int(kept[-1]), kept=True),
            )
        )

    def node(
        self, parent: int, action: int, *, moved: bool, score: float, cost: float | None, kept: bool
    ) -> HistoryNode:
        """A neighbor of the last beam, with the name of its action."""
        before = self.beams[-1][parent]
        name = before.name
        if moved:
            name = self.space.action_name(self.example, [*self.paths[parent], action])
        return HistoryNode(parent, name, moved, score, score - before.score, cost, kept)

    def history(self) -> History:
        """What was recorded."""
        return History(tuple(self.beams), tuple(self.drops))


def transition_row(
    step: Step, neighbors: Neighbors, row: int, width: int, finish: Finish
) -> tuple[TransitionRow, list[float]]:
    """A transition between neighbors with costs, in a row of the batch; and c* of its nodes.

    A terminal beam holds only the result; if the learned policy also has it, the others that it
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
    found = TransitionRow(
        slots=parents.tolist(),
        actions=(index - parents * neighbors.actions).tolist(),
        scores=neighbors.unmasked_scores.detach()[row][index].tolist(),
        ranked=[True] * len(index),
        kept=kept.tolist(),
        stays=(~moved).tolist(),
    )
    return found, neighbors.unmasked_costs[row][index].tolist()
