"""ConstrainedSpace: a search space of which only some outputs are left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..check import UsageError
from .constraint import Constraint
from .neighbors import Move
from .oracle import Oracle
from .rollout import RolloutOracle
from .space import Expansion, SearchSpace
from .steps_left import StepsLeft

Inner = TypeVar("Inner")


@dataclass(frozen=True)
class ConstrainedNodes(Generic[Inner]):
    """The nodes of a space, and where the constraint is at each."""

    inner: Inner
    state: Int[Tensor, "batch k"]


@final
class ConstrainedSpace(SearchSpace[ConstrainedNodes[Inner]]):
    """The outputs of a space that a constraint allows.

    Scorers see the space and the nodes inside, so that any scorer of that space can be used. An
    input that has the empty output alone keeps it.

    Costs are those of the space inside: c* of a node counts the best output below it, also one
    that the constraint rules out. So they may be too low, and the oracle is not `exact`.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 3 else [])
    >>> scorer = bl.FunctionScorer(lambda path: path[-1].count("b"))
    >>> space = bl.ConstrainedSpace(words, bl.Automaton.from_regex("b*ab*", "ab"))
    >>> [path[-1] for path in bl.beam_search(space, scorer, width=4).outputs]
    ['bba']
    """

    def __init__(self, inner: SearchSpace[Inner], constraint: Constraint) -> None:
        self.inner, self.constraint = inner, constraint
        self.max_steps, self.finish = inner.max_steps, inner.finish

    def __len__(self) -> int:
        return len(self.inner)

    def initial(self) -> ConstrainedNodes[Inner]:
        found = ConstrainedNodes(self.inner.initial(), self.constraint.start(len(self)))
        self._check(found)
        return found

    def expand(self, nodes: ConstrainedNodes[Inner]) -> Expansion:
        return self._restricted(self.inner.expand(nodes.inner), nodes)

    def advance(self, nodes: ConstrainedNodes[Inner], move: Move) -> ConstrainedNodes[Inner]:
        state = self.constraint.advance(nodes.state, move)
        return ConstrainedNodes(self.inner.advance(nodes.inner, move), state)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[Any]:
        return self.inner.outputs(examples, actions)

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        return self.inner.action_name(example, actions)

    def input(self, example: int) -> Any:
        return self.inner.input(example)

    def cost(self, example: int, output: Any) -> float | None:
        return self.inner.cost(example, output)

    def steps_left(self, nodes: ConstrainedNodes[Inner]) -> StepsLeft | None:
        return self.inner.steps_left(nodes.inner)

    @property
    def scored(self) -> SearchSpace[Any]:
        return self.inner.scored

    def scored_nodes(self, nodes: ConstrainedNodes[Inner]) -> Any:
        return self.inner.scored_nodes(nodes.inner)

    def oracle(self) -> Oracle:
        own = self.inner.oracle()
        if not isinstance(own, RolloutOracle):
            return ConstrainedOracle(own)
        if own.reference is None:
            return own
        # Roll-outs keep to the constraint; only who guides them sees the space inside.
        return own.guided(lambda _: ConstrainedOracle(own.right_path(self.inner)))

    def _restricted(self, expansion: Expansion, nodes: ConstrainedNodes[Inner]) -> Expansion:
        left = self.inner.steps_left(nodes.inner)
        going = self.constraint.legal(nodes.state, left)
        legal = torch.where(expansion.terminal, self.constraint.final(nodes.state), going)
        if expansion.legal is not None:
            legal = legal & expansion.legal
        return Expansion(expansion.actions, expansion.terminal, legal)

    def _check(self, nodes: ConstrainedNodes[Inner]) -> None:
        """Refuse a constraint of other actions, and one that leaves an example no output."""
        expansion = self.inner.expand(nodes.inner)
        if expansion.actions != self.constraint.actions:
            raise UsageError(
                f"A constraint must know the actions of its space, which are {expansion.actions}, "
                f"got one of {self.constraint.actions}; make it from the symbols of the space."
            )
        shape = (len(self), 1, expansion.actions)
        free = torch.ones_like(expansion.terminal) if expansion.legal is None else expansion.legal
        left = self._restricted(expansion, nodes).legal
        assert left is not None  # a constraint makes one
        stuck = free.expand(shape).any(dim=-1) & ~left.expand(shape).any(dim=-1)
        if bool(stuck.any()):
            raise UsageError(
                f"A constraint must leave every example an output, but example "
                f"{int(stuck.nonzero()[0, 0])} has none of an allowed length; loosen the "
                "constraint, or let outputs be longer."
            )


def restricted(space: SearchSpace[Any], constraint: Constraint | None) -> SearchSpace[Any]:
    """The space with a constraint, or without one as it is."""
    return space if constraint is None else ConstrainedSpace(space, constraint)


@final
class ConstrainedOracle(Oracle):
    """The completion costs of the space inside, which may be lower than those of what is left."""

    exact = False

    def __init__(self, inner: Oracle) -> None:
        self.inner = inner
        self.full, self.tolerance = inner.full, inner.tolerance

    def initial(self) -> Float[Tensor, " batch"]:
        return self.inner.initial()

    def start(self) -> Any:
        return self.inner.start()

    def costs(self, memory: Any, nodes: ConstrainedNodes[Any]) -> Float[Tensor, "batch k a"]:
        return self.inner.costs(memory, nodes.inner)

    def advance(self, memory: Any, nodes: ConstrainedNodes[Any], move: Move) -> Any:
        return self.inner.advance(memory, nodes.inner, move)
