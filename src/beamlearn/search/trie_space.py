"""TrieSpace: search among the items of a catalogue, token by token of their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..check import UsageError
from .item_index import ItemIndex
from .neighbors import Move
from .oracle import Oracle
from .space import Expansion, SearchSpace
from .trie import Children, Trie

Targets = int | Sequence[int] | Mapping[int, float]
"""The right items of an example: one, several that are equally good, or each with its relevance."""


@dataclass(frozen=True)
class TrieNodes:
    """Where the hypotheses of a beam are."""

    trie: Trie
    numbers: Int[Tensor, "batch k"]
    depth: int
    """How many tokens the hypotheses have that are not complete."""

    @cached_property
    def children(self) -> Children:
        """What may come next, of shape `batch k a`: action number i is the i-th child."""
        return self.trie.children(self.numbers)

    @property
    def tokens(self) -> Int[Tensor, "batch k"]:
        """The last token of each hypothesis; any for the initial ones."""
        return self.trie.token_to(self.numbers)


@final
class TrieSpace(SearchSpace[TrieNodes]):
    """The ids of a catalogue, for examples that each have one or several right items.

    An action is the rank of a child among the children of its node, not a token: there are as many
    actions as a node of the beam has children at most, which is few near the leaves. A scorer finds
    the tokens in `nodes.children.tokens`, and gathers their numbers. What it needs to know of the
    examples can be kept in `inputs`. `names` are what people read for tokens, position by position.
    If some examples belong together, as the targets of one user do, `owners` is the number of
    users: an update then weighs all targets alike, in batches with many and with few of them.

    An output is an id. Its cost is the greatest relevance of the example's targets, less that of
    the output, which is 0 unless it is the id of a target; of items that share an id, the most
    relevant counts. Targets without a relevance have 1. An example without targets can be
    searched, but has no costs.

    >>> index = ItemIndex([(0, 1), (0, 2), (3, 1)])
    >>> space = TrieSpace(index, [2, [0, 1], {0: 0.5, 2: 2.0}])
    >>> [space.cost(example, (0, 1)) for example in range(3)]
    [1.0, 0.0, 1.5]
    """

    def __init__(
        self,
        index: ItemIndex,
        targets: Sequence[Targets],
        inputs: Any = None,
        *,
        names: Sequence[Sequence[str]] | None = None,
        owners: int | None = None,
    ) -> None:
        self._owners = owners
        self.index, self.inputs, self.names = index, inputs, names
        self.relevance = [_relevance(*one, len(index)) for one in enumerate(targets)]

    def __len__(self) -> int:
        return len(self.relevance)

    @property
    def owners(self) -> int:
        return len(self) if self._owners is None else self._owners

    def initial(self) -> TrieNodes:
        trie = self.index.trie
        return TrieNodes(trie, torch.zeros(len(self), 1, dtype=torch.long, device=trie.device), 0)

    def expand(self, nodes: TrieNodes) -> Expansion:
        children = nodes.children
        terminal = ~nodes.trie.inner[children.nodes]
        return Expansion(children.nodes.shape[-1], terminal, children.legal)

    def advance(self, nodes: TrieNodes, move: Move) -> TrieNodes:
        after = nodes.trie.child(move.follow(nodes.numbers), move.actions)
        # A slot without a hypothesis is at the last leaf: its parent has children of another depth.
        last = nodes.trie.nodes - 1
        return TrieNodes(nodes.trie, torch.where(move.stays, last, after), nodes.depth + 1)

    def outputs(
        self, examples: Sequence[int], actions: Sequence[Sequence[int]]
    ) -> list[tuple[int, ...]]:
        return [self._prefix(ranks) for ranks in actions]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        token = self._prefix(actions)[-1]
        return str(token) if self.names is None else self.names[len(actions) - 1][token]

    def cost(self, example: int, output: Sequence[int]) -> float:
        (items,) = self.index.items_at(self.index.find([output]))
        relevance = self.relevance[example]
        return max(relevance.values()) - max(relevance.get(item, 0.0) for item in items)

    def oracle(self) -> "TrieOracle":
        for example, relevance in enumerate(self.relevance):
            if not relevance:
                raise UsageError(
                    f"Training and evaluation need targets, but example {example} has none; give "
                    "each example at least one."
                )
        return TrieOracle(self.index, self.relevance)

    def _prefix(self, ranks: Sequence[int]) -> tuple[int, ...]:
        trie = self.index.trie
        taken = torch.tensor([*ranks], dtype=torch.long, device=trie.device)
        return trie.prefix(int(trie.descend(taken)))


@final
class TrieOracle(Oracle):
    """c* of a node: the greatest relevance of all, less the greatest that is left below it.

    Every node above a target is kept once for each example, with the greatest relevance below it,
    under one number for both. So a step looks up its neighbors in a sorted list.
    """

    def __init__(self, index: ItemIndex, relevance: Sequence[Mapping[int, float]]) -> None:
        trie, self.nodes = index.trie, index.trie.nodes
        rows = [(row, *pair) for row, one in enumerate(relevance) for pair in one.items()]
        owner, item = (
            torch.tensor([row[place] for row in rows], dtype=torch.long, device=trie.device)
            for place in (0, 1)
        )
        worth = torch.tensor([worth for *_, worth in rows], device=trie.device)
        above = list(trie.ancestors(index.leaves[item]))
        keys = torch.cat([owner * self.nodes + one for one in above])
        self.keys, place = keys.unique(return_inverse=True)
        self.best = _greatest(worth.repeat(len(above)), place, len(self.keys))
        self.most = _greatest(worth, owner, len(relevance))
        self.unique = all(len(one) == 1 for one in relevance)

    def initial(self) -> Float[Tensor, " batch"]:
        return torch.zeros_like(self.most)

    def start(self) -> Int[Tensor, " batch"]:
        return torch.arange(len(self.most), device=self.most.device)

    def costs(self, memory: Int[Tensor, " batch"], nodes: TrieNodes) -> Float[Tensor, "batch k a"]:
        wanted = memory[:, None, None] * self.nodes + nodes.children.nodes
        place = torch.searchsorted(self.keys, wanted).clamp(max=len(self.keys) - 1)
        below = torch.where(self.keys[place] == wanted, self.best[place], 0.0)
        return self.most[memory][:, None, None] - below

    def advance(
        self, memory: Int[Tensor, " batch"], nodes: TrieNodes, move: Move
    ) -> Int[Tensor, " batch"]:
        return move.keep(memory)


def _greatest(
    worth: Float[Tensor, " some"], group: Int[Tensor, " some"], groups: int
) -> Float[Tensor, " groups"]:
    """The greatest number of each group."""
    return worth.new_zeros(groups).scatter_reduce(0, group, worth, "amax")


def _relevance(example: int, targets: Targets, items: int) -> dict[int, float]:
    """The relevance of each target; refuse what is no item, and no relevance."""
    if isinstance(targets, int):
        targets = [targets]
    found = dict(targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, 1.0)
    for item, worth in found.items():
        if not 0 <= item < items:
            raise UsageError(
                f"The targets of example {example} must be items from 0 to {items - 1}, got {item}."
            )
        if not (isfinite(worth) and worth > 0):
            raise UsageError(
                f"The relevance of a target must be above 0, got {worth} for item {item} of "
                f"example {example}; leave out what is not relevant."
            )
    return {int(item): float(worth) for item, worth in found.items()}
