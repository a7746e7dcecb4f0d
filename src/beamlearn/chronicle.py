"""What happened in the search of one example, beam by beam, in plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .space import SearchSpace
from .witness import Candidate, Seen


@dataclass(frozen=True)
class Node:
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
    """c*, where there are right answers."""
    kept: bool
    """Is it in the beam? Others are only on the n-best list of the last transition."""


@dataclass(frozen=True)
class Fall:
    """A transition at which the beam lost the cheapest of its neighbors."""

    step: int
    """The beam that it is missing in, counted from 0."""
    lost: Node
    rank: int
    """Its place among all neighbors by their scores, from 1."""
    rise: float
    """By how much more the cheapest hypothesis costs that the policy keeps."""
    rival: Node
    """What has the last place in the beam, and so pushed it out."""


TOLERANCE = 1e-6
"""Costs that differ by less are equal."""


@dataclass(frozen=True)
class Chronicle:
    """The beams b_1, ..., b_h of one search; the last one with its n-best list."""

    beams: tuple[tuple[Node, ...], ...]
    falls: tuple[Fall, ...] = ()
    """Where the cheapest hypothesis fell out, if there are right answers; the first is where the
    best possible output was lost."""

    @classmethod
    def of(
        cls, space: SearchSpace[Any], example: int, seen: Sequence[Seen], cost: float | None = None
    ) -> "Chronicle":
        """Tell the transitions of an example; `cost` is c* of its initial node."""
        beams: list[tuple[Node, ...]] = [(Node(None, "", False, 0.0, 0.0, cost, True),)]
        falls: list[Fall] = []
        paths: list[list[int]] = [[]]

        def node(one: Candidate, kept: bool) -> Node:
            before, actions = beams[-1][one.parent], [*paths[one.parent], one.action]
            name = space.action_name(example, actions) if one.moves else before.name
            added = one.score - before.score
            return Node(one.parent, name, one.moves, one.score, added, one.cost, kept)

        for step, transition in enumerate(seen, 1):
            if (lost := transition.lost) is not None:
                fallen, rival = node(lost.cheapest, False), node(lost.rival, True)
                falls.append(Fall(step, fallen, lost.rank, lost.rise, rival))
            found = transition.candidates
            beams.append(tuple(node(one, kept) for one, kept in found))
            paths = [paths[one.parent] + [one.action] * one.moves for one, _ in found]
        return cls(tuple(beams), tuple(falls))

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

    def path(self, step: int, node: Node) -> list[str]:
        """The names of the actions that led to a hypothesis, which may have fallen out there."""
        if node.parent is None:
            return []
        beams = zip(self.beams, self.ancestors(step - 1, node.parent), strict=False)
        return [one.name for one in [*(beam[at] for beam, at in beams), node] if one.moved]

    @property
    def least_cost(self) -> float | None:
        """What the best possible output costs."""
        return self.beams[0][0].cost

    def best(self, node: Node) -> bool:
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
