"""Constraint: which actions may come next, as a state that follows each hypothesis."""

from abc import ABC, abstractmethod

from jaxtyping import Bool, Int
from torch import Tensor

from .neighbors import Move
from .steps_left import StepsLeft


class Constraint(ABC):
    """A set of outputs, in the form in which a beam asks for it: all slots and actions at once.

    A state is a number for each hypothesis. Slots that hold nothing, or nothing that is extended,
    have any state, and what is said of them is not read.
    """

    actions: int
    """How many it knows, which are those of the space."""

    @abstractmethod
    def start(self, batch: int) -> Int[Tensor, "batch 1"]:
        """The states of the initial beams."""

    @abstractmethod
    def legal(
        self, state: Int[Tensor, "batch k"], left: StepsLeft | None = None
    ) -> Bool[Tensor, "batch k a"]:
        """Which actions may be taken before another one.

        Where the number of actions that are `left` is known, the output can then still be
        completed in time.
        """

    @abstractmethod
    def final(self, state: Int[Tensor, "batch k"]) -> Bool[Tensor, "batch k a"]:
        """Which actions may be the last one."""

    @abstractmethod
    def advance(self, state: Int[Tensor, "before slots"], move: Move) -> Int[Tensor, "batch k"]:
        """The states that `move` leads to."""
