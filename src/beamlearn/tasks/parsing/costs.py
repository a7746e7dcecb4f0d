"""Completion costs of transition systems: what is common to their oracles."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from jaxtyping import Float, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .gold import Gold
from .system import NONE, Configurations, TransitionSystem


@dataclass(frozen=True)
class Account(Generic[Configurations]):
    """What an oracle remembers of each hypothesis."""

    oracle: "TransitionOracle[Configurations]"
    nodes: Configurations
    errors: Float[Tensor, "batch k"]
    """c* of the hypothesis: wrong arcs, and right ones that are out of reach."""
    extra: Any

    @cached_property
    def costs(self) -> Float[Tensor, "batch k a"]:
        """c* of every neighbor; asked for by `costs` and once more by `advance`."""
        return self.oracle.action_costs(self)


class TransitionOracle(Oracle, Generic[Configurations]):
    """c* after an action = c* after its kind of transition + [only the relation is wrong]."""

    def __init__(
        self, system: TransitionSystem[Configurations], nodes: Configurations, gold: Gold
    ) -> None:
        self.system, self.nodes, self.gold = system, nodes, gold

    @abstractmethod
    def initial(self) -> Float[Tensor, " batch"]: ...

    @abstractmethod
    def started(self) -> Any:
        """The extra memory of the initial configurations."""

    @abstractmethod
    def after(self, account: Account[Configurations]) -> Float[Tensor, "batch k kinds"]:
        """c* after each kind of transition, with the right relation if the arc is right."""

    @abstractmethod
    def remember(
        self,
        account: Account[Configurations],
        nodes: Configurations,
        move: Move,
        kinds: Int[Tensor, "batch k"],
    ) -> Any:
        """The extra memory after a move, which leads to `nodes`."""

    def start(self) -> Account[Configurations]:
        return Account(self, self.nodes, self.initial()[:, None], self.started())

    def costs(
        self, memory: Account[Configurations], nodes: Configurations
    ) -> Float[Tensor, "batch k a"]:
        return memory.costs

    def advance(
        self, memory: Account[Configurations], nodes: Configurations, move: Move
    ) -> Account[Configurations]:
        kinds = self.gold.actions.kind_of[move.actions]
        errors = move.pick(memory.costs)
        return Account(self, nodes, errors, self.remember(memory, nodes, move, kinds))

    def action_costs(self, account: Account[Configurations]) -> Float[Tensor, "batch k a"]:
        """c* of every neighbor."""
        gold, after = self.gold, self.after(account)
        if gold.cost == "unlabeled":
            return gold.actions.spread(after)
        dependents, heads = self.system.arcs(account.nodes)
        examples = account.nodes.examples[:, None, None]
        possible = (dependents != NONE) & ((heads != NONE) == gold.actions.to_words)
        right = (gold.heads[examples, dependents] == heads) & possible
        costs = gold.actions.spread(after + right)
        named = gold.actions.first + gold.relations[examples, dependents]
        return costs.scatter_add_(2, named.clamp(0, costs.shape[2] - 1), -right.to(costs.dtype))
