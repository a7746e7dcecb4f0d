"""Trie: prefixes of ids as numbered nodes, in two flat tensors (compressed sparse rows)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Int
from torch import Tensor

ROOT = 0
"""The node of the empty prefix."""


@dataclass(frozen=True)
class Children:
    """The children of some nodes, in the order of their tokens.

    Where `legal` is False there is no child; its token is 0, and its node is any.
    """

    nodes: Int[Tensor, "*shape a"]
    tokens: Int[Tensor, "*shape a"]
    legal: Bool[Tensor, "*shape a"]


@dataclass(frozen=True, eq=False)
class Trie:
    """Nodes are numbered level by level, and within a level in the order of their prefixes.

    So the children of a node have consecutive numbers, and edge e leads to node e + 1.
    """

    offsets: Int[Tensor, " nodes_and_1"]
    """The first edge of each node; the number after it is where its edges end."""
    tokens: Int[Tensor, " edges"]
    """The token of each edge, in increasing order for each node."""

    @property
    def nodes(self) -> int:
        """The number of nodes, the root among them."""
        return len(self.tokens) + 1

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.tokens.device

    @cached_property
    def vocabulary(self) -> int:
        """One more than the largest token."""
        return int(self.tokens.max()) + 1

    @cached_property
    def parents(self) -> Int[Tensor, " nodes"]:
        """The parent of each node; that of the root is the root."""
        numbers = torch.arange(self.nodes, device=self.device)
        return torch.cat([numbers[:1], numbers.repeat_interleave(self.offsets.diff())])

    @cached_property
    def edges(self) -> Int[Tensor, " edges"]:
        """Node and token of each edge as one number, in increasing order."""
        return self.parents[1:] * self.vocabulary + self.tokens

    @cached_property
    def inner(self) -> Bool[Tensor, " nodes"]:
        """Which nodes have children?"""
        return self.offsets.diff() > 0

    def to(self, device: torch.device | str) -> "Trie":
        """The same on another device."""
        return Trie(self.offsets.to(device), self.tokens.to(device))

    def children(self, nodes: Int[Tensor, "*shape"]) -> Children:
        """The children of nodes; the last axis is as long as the most that one of them has."""
        first = self.offsets[nodes]
        counts = self.offsets[nodes + 1] - first
        most = max(1, int(counts.max())) if counts.numel() else 1
        rank = torch.arange(most, device=self.device)
        legal = rank < counts[..., None]
        edges = torch.where(legal, first[..., None] + rank, 0)
        return Children(edges + 1, torch.where(legal, self.tokens[edges], 0), legal)

    def child(
        self, nodes: Int[Tensor, "*shape"], ranks: Int[Tensor, "*shape"]
    ) -> Int[Tensor, "*shape"]:
        """The child of each node by its rank among the children."""
        return self.offsets[nodes] + ranks + 1

    def token_to(self, nodes: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The token of the edge to each node; that of the root is any."""
        return self.tokens[(nodes - 1).clamp(min=0)]

    def step(
        self, nodes: Int[Tensor, "*shape"], tokens: Int[Tensor, "*shape"]
    ) -> Int[Tensor, "*shape"]:
        """The child of each node by its token; -1 where there is none, and from -1."""
        known = (nodes >= 0) & (tokens >= 0) & (tokens < self.vocabulary)
        keys = torch.where(known, nodes * self.vocabulary + tokens, -1)
        edges = torch.searchsorted(self.edges, keys).clamp(max=len(self.edges) - 1)
        return torch.where(self.edges[edges] == keys, edges + 1, -1)

    def walk(self, prefixes: Int[Tensor, "*shape steps"]) -> Int[Tensor, "*shape"]:
        """The node of each prefix; -1 where there is none."""
        nodes = torch.zeros(prefixes.shape[:-1], dtype=torch.long, device=self.device)
        for tokens in prefixes.unbind(dim=-1):
            nodes = self.step(nodes, tokens)
        return nodes

    def descend(self, ranks: Int[Tensor, "*shape steps"]) -> Int[Tensor, "*shape"]:
        """The node that is reached by children of these ranks, one after another; -1 is none."""
        nodes = torch.zeros(ranks.shape[:-1], dtype=torch.long, device=self.device)
        for rank in ranks.unbind(dim=-1):
            nodes = torch.where(rank >= 0, self.child(nodes, rank), nodes)
        return nodes

    def ancestors(self, nodes: Int[Tensor, "*shape"]) -> Iterator[Int[Tensor, "*shape"]]:
        """The nodes, their parents and so on, until all are the root."""
        while bool((nodes != ROOT).any()):
            yield nodes
            nodes = self.parents[nodes]

    def prefix(self, node: int) -> tuple[int, ...]:
        """The tokens that lead to a node."""
        upward = self.ancestors(torch.tensor(node, device=self.device))
        return tuple(int(self.token_to(one)) for one in upward)[::-1]

    def first_leaf(self, node: int) -> int:
        """The first node below a node, or itself, that has no children."""
        while bool(self.inner[node]):
            node = int(self.offsets[node]) + 1
        return node
