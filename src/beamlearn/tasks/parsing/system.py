"""TransitionSystem: how a tree is built step by step, for a whole beam at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jaxtyping import Bool, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .actions import TransitionKind
from .gold import Gold

NONE = 0
"""The number of a word that is not there; as a head it is the root."""


@dataclass(frozen=True)
class Parsed:
    """What the configurations of any system have."""

    examples: Int[Tensor, " batch"]
    lengths: Int[Tensor, " batch"]
    """Words of the sentences."""


Configurations = TypeVar("Configurations", bound=Parsed)


class TransitionSystem(ABC, Generic[Configurations]):
    """Which transitions there are, when they are legal, and what they do.

    Words are numbered from 1, in tensors of shape `batch k`. A system ends every parse with a
    transition of its one "root" kind, which makes the root's only arc, so that all parses are
    trees with a single root.
    """

    kinds: tuple[TransitionKind, ...]
    """All transitions; that of the root is the last."""
    positions: tuple[str, ...]
    """The words that a scorer looks at."""

    @abstractmethod
    def initial(self, lengths: Int[Tensor, " batch"]) -> Configurations:
        """The configurations before the first transition, in one slot."""

    @abstractmethod
    def legal(self, nodes: Configurations) -> Bool[Tensor, "batch k kinds"]:
        """Which kinds of transitions are possible."""

    @abstractmethod
    def advance(
        self, nodes: Configurations, move: Move, kinds: Int[Tensor, "batch k"]
    ) -> Configurations:
        """The configurations after transitions of those kinds."""

    @abstractmethod
    def words(self, nodes: Configurations) -> Int[Tensor, "batch k positions"]:
        """The words at `positions`; `NONE` where there is none."""

    @abstractmethod
    def arcs(
        self, nodes: Configurations
    ) -> tuple[Int[Tensor, "batch k kinds"], Int[Tensor, "batch k kinds"]]:
        """Dependent and head of the arc that each kind makes; dependent `NONE`: no arc."""

    @abstractmethod
    def steps(self, length: int) -> int:
        """The most transitions that a sentence of `length` words takes."""

    @abstractmethod
    def oracle(self, nodes: Configurations, gold: Gold) -> Oracle:
        """Completion costs, given the initial configurations and the right trees."""


AnySystem = TransitionSystem[Any]
