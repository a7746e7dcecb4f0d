"""SearchSpace: what a beam walks through, for a batch of examples in lockstep."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from jaxtyping import Bool, Int
from torch import Tensor

from .neighbors import Move
from .oracle import Oracle
from .steps_left import StepsLeft

Nodes = TypeVar("Nodes")
Finish = Literal["pad", "first"]
"""What happens to terminals at different depths.

"pad" (Appendix A): a finished hypothesis keeps its slot and its score; the search ends when
all are finished. "first" (Section 3): the search ends as soon as the best neighbor is
terminal; other terminals are dropped.
"""


@dataclass(frozen=True)
class Expansion:
    """Which neighbors the nodes of a beam have.

    Both masks broadcast against `batch k a`, so a rule that is the same for all slots or all
    actions costs nothing: where a tagger ends, `terminal` has the shape `batch 1 1`.
    """

    actions: int
    """a: how many actions a node may have."""
    terminal: Bool[Tensor, "#batch #k #a"]
    """Does the action lead to a terminal node?"""
    legal: Bool[Tensor, "#batch #k #a"] | None = None
    """Does the action exist? None: all do."""
    ending: Bool[Tensor, "#batch #k"] | None = None
    """Are all neighbors of the node terminal? None: that is found from the masks."""


class SearchSpace(ABC, Generic[Nodes]):
    """The search spaces of a batch of examples.

    `Nodes` is whatever the space needs to know about the nodes of its beams: a tensor or a
    frozen dataclass of tensors whose first axes are `batch k`. The engine never looks inside;
    it hands `Nodes` to the space, the scorer and the oracle. Histories need not be kept in it:
    the engine has back-pointers, and asks for `outputs` by the actions that led there.
    """

    max_steps: int = 10_000
    """A search that takes more transitions than this is stopped as endless."""
    finish: Finish = "pad"
    """What happens to terminals at different depths, unless a search sets its own `finish`."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @property
    def owners(self) -> int:
        """What the losses of a batch are divided by for an update: the number of examples.

        Fewer, where several of them belong together, so that their losses add up.
        """
        return len(self)

    @abstractmethod
    def initial(self) -> Nodes:
        """The initial beams: one slot, which holds v_(0) of each example."""

    @abstractmethod
    def expand(self, nodes: Nodes) -> Expansion:
        """Which neighbors there are; an initial node without any is itself terminal."""

    @abstractmethod
    def advance(self, nodes: Nodes, move: Move) -> Nodes:
        """The nodes that `move` leads to."""

    @abstractmethod
    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[Any]:
        """The outputs (or outputs so far) that lists of actions build, one per example named."""

    def steps_left(self, nodes: Nodes) -> StepsLeft | None:
        """How many actions outputs still take, so that a constraint can be met in time.

        None: that is not known.
        """
        return None

    @property
    def scored(self) -> "SearchSpace[Any]":
        """The space that scorers see: itself, unless it only restricts another one."""
        return self

    def scored_nodes(self, nodes: Nodes) -> Any:
        """The nodes of `scored`."""
        return nodes

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        """What the last of the actions that lead to a node is called, where people look at it."""
        return str(actions[-1])

    def input(self, example: int) -> Any:
        """What a cost that is a function of inputs and outputs is told; by default the number."""
        return example

    def cost(self, example: int, output: Any) -> float | None:
        """The cost of a complete output, by its definition; None: the space does not know it.

        Nothing but `check_oracle` asks: it compares the oracle with these costs.
        """
        return None

    def oracle(self) -> Oracle:
        """The completion costs of this space, where it knows the right answers."""
        raise ValueError(
            f"Training and evaluation need costs, but this {type(self).__name__} has none; build "
            "it with references or costs, or pass `oracle` to `beam_trajectory`."
        )


class NumberedSpace(SearchSpace[Tensor]):
    """A space whose nodes are numbers: tensors of shape `batch k` that index its `numbering`.

    What is known about a node, such as its features, can be kept in tables by its number.
    """

    @property
    @abstractmethod
    def numbering(self) -> object:
        """What the numbers belong to; two spaces with the same numbering share their nodes."""

    @abstractmethod
    def children(self, nodes: Int[Tensor, "batch k"]) -> Int[Tensor, "batch k a"]:
        """The numbers of all neighbors, by action; -1 where there is none."""

    @abstractmethod
    def output_of(self, number: int) -> Any:
        """The output so far of a node."""
