"""Scorer: the model's number for every neighbor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final
from weakref import WeakKeyDictionary
from zlib import crc32

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from .check import unknown
from .column import Column
from .neighbors import Move
from .space import NumberedSpace, SearchSpace
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


Features = Mapping[str, float] | Sequence[float] | Tensor
"""Named numbers, or a vector."""


@final
class LinearScorer(Scorer):
    """s(v) = theta . phi(v) for features that a Python function finds in a path.

    `features(path)` returns a vector of `size` numbers or a dictionary of named ones. Names are
    listed in `names`, or hashed into `size` places. theta starts at zero. Features are found
    once per path and kept.

    >>> import beamlearn as bl
    >>> scorer = bl.LinearScorer(lambda path: {"steps": len(path)}, names=["steps"])
    >>> dict(scorer.weights())
    {'steps': 0.0}
    """

    accumulate = False
    linear = True

    def __init__(
        self,
        features: Callable[[Any], Features],
        size: int | None = None,
        *,
        names: Sequence[str] | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if (size is None) == (names is None):
            raise ValueError(
                "A linear scorer needs either `size`, the number of its features, or their "
                f"`names`, but size={size} and names={names} came."
            )
        self.features = features
        self.names = None if names is None else {name: place for place, name in enumerate(names)}
        self.size = len(self.names) if self.names is not None else int(size or 0)
        self.theta = nn.Parameter(torch.zeros(self.size, dtype=dtype))
        self._tables: WeakKeyDictionary[Any, FeatureTable] = WeakKeyDictionary()

    def weights(self) -> list[tuple[str, float]]:
        """The weight of each named feature."""
        return list(zip(self.names or map(str, range(self.size)), self.theta.tolist(), strict=True))

    def start(self, space: NumberedSpace) -> NumberedSpace:
        if not isinstance(space, NumberedSpace):
            raise TypeError(
                f"A LinearScorer needs a space with numbered nodes, such as GraphSpace, but "
                f"{type(space).__name__} came; write a Scorer for it instead."
            )
        return space

    def score(self, memory: NumberedSpace, nodes: Any) -> Float[Tensor, "batch k a"]:
        table = self._tables.setdefault(memory.numbering, FeatureTable())
        children = memory.children(nodes)
        exists = children >= 0
        numbers, place = children[exists].unique(return_inverse=True)
        missing = table.missing(numbers)
        table.add(missing, [self._find(memory.output_of(number)) for number in missing.tolist()])
        scores = table.dot(numbers, self.theta)[place].to(children.device)
        return scores.new_zeros(children.shape).masked_scatter(exists, scores)

    def advance(self, memory: NumberedSpace, nodes: Any, move: Move) -> NumberedSpace:
        return memory

    def _find(self, output: Any) -> dict[int, float]:
        """The features of one node by place; in one order, so that equal ones have equal sums."""
        found = self.features(output)
        if isinstance(found, Mapping):
            values = dict.fromkeys(sorted(self._place(name) for name in found), 0.0)
            for name, value in found.items():
                values[self._place(name)] += float(value)
            return values
        vector = torch.as_tensor(found, dtype=torch.float64).flatten().tolist()
        if len(vector) != self.size:
            raise ValueError(
                f"`features` must return {self.size} numbers, the size of the scorer, but "
                f"{len(vector)} came for {output!r}."
            )
        return dict(enumerate(vector))

    def _place(self, name: str) -> int:
        if self.names is None:
            return crc32(str(name).encode()) % self.size
        if name not in self.names:
            raise ValueError(unknown(self.names, name, "feature"))
        return self.names[name]


class FeatureTable:
    """phi of the nodes of one numbering, as sparse rows one after another."""

    def __init__(self) -> None:
        self.start = Column(torch.long)  # where a node's row begins; -1 while it has none
        self.count = Column(torch.long)
        self.places = Column(torch.long)
        self.values = Column(torch.float64)

    def missing(self, numbers: Int[Tensor, " n"]) -> Int[Tensor, " missing"]:
        """Which nodes have no features yet."""
        new = int(numbers.max()) + 1 - len(self.start) if numbers.numel() else 0
        self.start.extend([-1] * new)
        self.count.extend([0] * new)
        return numbers[self.start[numbers] < 0]

    def add(self, numbers: Int[Tensor, " n"], found: Sequence[Mapping[int, float]]) -> None:
        """Set the features of some nodes."""
        count = torch.tensor([len(row) for row in found], dtype=torch.long)
        self.start[numbers] = len(self.places) + count.cumsum(0) - count
        self.count[numbers] = count
        self.places.extend([place for row in found for place in row])
        self.values.extend([value for row in found for value in row.values()])

    def dot(self, numbers: Int[Tensor, " n"], theta: Float[Tensor, " size"]) -> Float[Tensor, " n"]:
        """theta . phi of each node, its features added in their order."""
        start, count = self.start[numbers], self.count[numbers]
        node = torch.arange(len(numbers)).repeat_interleave(count)
        entry = torch.arange(len(node)) + (start - count.cumsum(0) + count)[node]
        places, values = self.places[entry].to(theta.device), self.values[entry].to(theta)
        products = theta[places] * values
        return theta.new_zeros(len(numbers)).index_add(0, node.to(theta.device), products)
