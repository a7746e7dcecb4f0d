"""Oracle: the cost of the best completion of every neighbor."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .check_tensors import check_shape
from .neighbors import Move, Neighbors


@dataclass(frozen=True)
class Collection:
    """A trajectory that is about to be collected: where, by whom and how."""

    space: Any
    scorer: Any
    start: Any
    """The initial `Beam`."""
    width: int
    generator: torch.Generator | None


@dataclass(frozen=True)
class RightPath:
    """The cheapest path of every example, where it is the only one whatever the scores."""

    actions: Int[Tensor, "batch steps"]
    taken: Bool[Tensor, "batch steps"]
    """Where the path has an action; there, every other action costs more."""
    costs: Float[Tensor, "n a"]
    """c* of all neighbors on the way, up to a constant for each node, in the order of `places`."""

    @property
    def places(self) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"]]:
        """Step and example of each action, step by step."""
        step, example = self.taken.t().nonzero().unbind(dim=1)
        return step, example


class Oracle(ABC):
    """c*, the completion costs that training compares the scores with.

    Like a scorer, an oracle may carry memory per hypothesis (the errors so far, a row of an
    edit-distance table) that follows the beam; one that needs none returns None.
    """

    exact: bool = True
    """Are its costs c* themselves, not an estimate? Only then is c*(v) the minimum over the
    neighbors of v, and only then do transition costs telescope."""
    full: bool = True
    """True: costs for all neighbors. False: only which neighbor is cheapest, as 0 against 1."""
    tolerance: float = 0.0
    """How much c* of a beam may rise, by rounding, before it counts as a cost increase."""
    unique: bool = False
    """Is the cheapest neighbor of each node on the cheapest path unique? Then following the oracle
    at width 1 needs no scores."""

    @abstractmethod
    def initial(self) -> Float[Tensor, " batch"]:
        """c* of the initial node of every example."""

    @abstractmethod
    def start(self) -> Any:
        """Memory of the initial beams."""

    @abstractmethod
    def costs(self, memory: Any, nodes: Any) -> Float[Tensor, "batch k a"]:
        """c* of every neighbor of `nodes`; any number where there is no neighbor."""

    @abstractmethod
    def advance(self, memory: Any, nodes: Any, move: Move) -> Any:
        """Memory after `move`, which leads to `nodes`."""

    def following(self, collection: Collection) -> "Oracle":
        """The oracle along one trajectory; only one that rolls out depends on it."""
        return self

    def complete(self, memory: Any, beam: Any, neighbors: Neighbors) -> Neighbors:
        """The neighbors of a `Beam` with their costs."""
        costs = self.costs(memory, beam.nodes)
        check_shape(costs, tuple(neighbors.local.shape), "costs", "oracle")
        return replace(neighbors, completion=costs)

    def path(self) -> RightPath | None:
        """The cheapest paths, where they can be told without walking along them; None: walk."""
        return None

    def right_path(self, space: Any) -> "Oracle":
        """The oracle that shows the right path: itself, or the reference behind estimates."""
        return self

    def output_costs(self, trace: Any) -> Float[Tensor, " batch"] | None:
        """The cost of the outputs that a `Trace` leads to; None: what the costs along it say."""
        return None
