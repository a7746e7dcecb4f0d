"""Scorer: the model's number for every neighbor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from .neighbors import Move
from .space import SearchSpace
from .visits import Visits


class Scorer(nn.Module, ABC):
    """s(v, theta), in the form in which a beam asks for it: all neighbors of all slots at once.

    A scorer may carry memory per hypothesis (recurrent states, caches) that follows the beam;
    one that needs none returns None. Work that is done once per example, such as encoding a
    sentence, belongs in `start`.
    """

    accumulate: bool = True
    """True: the score of a node is the sum of the numbers along its path. False: its own."""
    normalize: Literal["log_softmax"] | None = None
    """Turn the numbers of each slot into log-probabilities of its legal actions?"""
    complete: bool = False
    """Is every number finite, so that no action is ever ruled out? It saves looking for -inf."""
    linear: bool = False
    """Is every number linear in the parameters? Then convex losses are convex in these."""
    length_bonus: float = 0.0
    """What every action adds to the score, where outputs of different lengths compete."""
    length_power: float = 0.0
    """Divide the score of a node at depth t by t to this power; 1: the mean along its path."""

    @abstractmethod
    def start(self, space: Any) -> Any:
        """Memory of the initial beams of `space`."""

    @abstractmethod
    def score(self, memory: Any, nodes: Any) -> Float[Tensor, "batch k a"]:
        """The number of each action; -inf rules one out, illegal ones may hold anything."""

    @abstractmethod
    def advance(self, memory: Any, nodes: Any, move: Move) -> Any:
        """Memory after `move`, which leads to `nodes`."""


class PathScorer(Scorer):
    """A scorer that can score all nodes of one path at once: teacher forcing.

    It rules out no action: all of its numbers are finite.
    """

    @abstractmethod
    def along(
        self, memory: Any, actions: Int[Tensor, "batch steps"]
    ) -> Float[Tensor, "batch steps a"]:
        """The numbers of `score` before each of the actions, from the memory of `start`.

        Actions after the end of a path may be any.
        """


class ParallelScorer(Scorer):
    """A scorer that can score all nodes of a trajectory at once, as a transformer can.

    Training then collects a trajectory step by step without gradients, and goes back through
    one parallel pass over the nodes that it visited (replay).
    """

    @abstractmethod
    def replay(self, memory: Any, visits: Visits) -> Iterator[Float[Tensor, "batch k a"]]:
        """The numbers of `score` at each transition of `visits`, from the memory of `start`.

        Whatever was drawn at random for `memory`, such as dropout, is drawn no more: the
        numbers are those of the trajectory, up to rounding.
        """


@dataclass(frozen=True)
class Prefixes:
    """The actions that led to each slot of each beam."""

    space: SearchSpace[Any]
    examples: list[int]
    actions: list[list[list[int]]]
    idle: Bool[Tensor, "batch k"] | None
    """Which slots hold nothing, or nothing that can be extended; None: none."""


@final
class FunctionScorer(Scorer):
    """Score each node by a Python function of its output so far (for a graph, of its path).

    For toys, tests and rules of thumb: `f` runs once per neighbor, and nothing is learned.

    >>> import beamlearn as bl
    >>> scorer = bl.FunctionScorer(lambda path: -len(path))
    """

    accumulate = False

    def __init__(self, f: Callable[[Any], float]) -> None:
        super().__init__()
        self.f = f

    def start(self, space: SearchSpace[Any]) -> Prefixes:
        return Prefixes(space, list(range(len(space))), [[[]] for _ in range(len(space))], None)

    def score(self, memory: Prefixes, nodes: Any) -> Float[Tensor, "batch k a"]:
        expansion = memory.space.expand(nodes)
        slots = max((len(beam) for beam in memory.actions), default=1)
        shape = (len(memory.actions), slots, expansion.actions)
        device = expansion.terminal.device
        scores = torch.zeros(shape, dtype=torch.float64, device=device)
        legal = torch.ones(shape, dtype=torch.bool, device=device)
        if expansion.legal is not None:
            legal = expansion.legal.expand(shape)
        if memory.idle is not None:
            legal = legal & ~memory.idle[..., None]
        entries = legal.nonzero().tolist()
        outputs = memory.space.outputs(
            [memory.examples[row] for row, _, _ in entries],
            [[*memory.actions[row][slot], action] for row, slot, action in entries],
        )
        scores[legal] = torch.tensor([self.f(o) for o in outputs], dtype=torch.float64).to(device)
        return scores

    def advance(self, memory: Prefixes, nodes: Any, move: Move) -> Prefixes:
        rows = range(len(memory.examples)) if move.rows is None else move.rows.tolist()
        slots, actions, stays = move.slots.tolist(), move.actions.tolist(), move.stays.tolist()
        return Prefixes(
            memory.space,
            [memory.examples[row] for row in rows],
            [
                [
                    memory.actions[row][slot] + ([] if stay else [action])
                    for slot, action, stay in zip(*beam, strict=True)
                ]
                for row, *beam in zip(rows, slots, actions, stays, strict=True)
            ],
            move.stays | move.finished,
        )
