"""LinearScorer: one weight per feature, where a Python function computes the features of a path."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final
from weakref import WeakKeyDictionary
from zlib import crc32

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..check import unknown
from .growing_tensor import GrowingTensor
from .neighbors import Move
from .scorer import Scorer
from .space import NumberedSpace

Features = Mapping[str, float] | Sequence[float] | Tensor
"""Named numbers, or a vector."""


@final
class LinearScorer(Scorer):
    """s(v) = theta . phi(v), where a Python function computes the features of a path.

    `features(path)` returns a vector of `size` numbers or a dictionary of named ones. Names are
    listed in `names`, or hashed into `size` places. theta starts at zero. Features are computed
    once per path and cached.

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
                f"`names`, got size={size} and names={names}; give exactly one of them."
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
                "A LinearScorer needs a space with numbered nodes, such as GraphSpace, got "
                f"{type(space).__name__}; write a Scorer for it instead."
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
                f"`features` must return {self.size} numbers, the size of the scorer, got "
                f"{len(vector)} for {output!r}."
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
        self.start = GrowingTensor(torch.long)  # where a node's row begins; -1 while it has none
        self.count = GrowingTensor(torch.long)
        self.places = GrowingTensor(torch.long)
        self.values = GrowingTensor(torch.float64)

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
