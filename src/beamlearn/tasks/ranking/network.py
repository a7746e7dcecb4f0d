"""A recurrent network that reads a history and scores the next token of an id."""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...search.neighbors import Move
from ...search.scorer import Scorer
from ...search.trie_space import TrieNodes, TrieSpace
from .positions import Positions


@dataclass(frozen=True)
class RankerMemory:
    """The state of each hypothesis."""

    hidden: Float[Tensor, "batch k size"]
    dropped: Float[Tensor, "batch 1 size"] | None
    """One dropout mask per example: its hypotheses stay comparable."""


@final
class RecurrentRanker(Scorer):
    """s(token) = v_token . state, with one set of vectors for each position of an id.

    A GRU reads the history; an item is the sum of its own vector and those of its tokens. Its
    state is where another GRU begins, which writes the id.
    """

    complete = True

    def __init__(
        self,
        paths: Int[Tensor, "items length"],
        sizes: tuple[int, ...],
        *,
        size: int = 128,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.normalize = "log_softmax"
        *self.starts, tokens = accumulate(sizes, initial=0)
        self.sizes = sizes
        self.register_buffer("tokens_of", paths + torch.tensor(self.starts), persistent=False)
        self.items = nn.Embedding(len(paths), size)
        self.read, self.written = nn.Embedding(tokens, size), nn.Embedding(tokens, size)
        self.encoder = nn.GRU(size, size, layers, batch_first=True)
        self.decoder = nn.GRUCell(size, size)
        self.vectors, self.bias = nn.Embedding(tokens, size), nn.Parameter(torch.zeros(tokens))
        self.dropout = nn.Dropout(dropout)
        for table in (self.items, self.read, self.written, self.vectors):
            nn.init.normal_(table.weight, std=size**-0.5)

    def start(self, space: TrieSpace) -> RankerMemory:
        given: Positions = space.inputs
        tokens = self.tokens_of[given.histories]  # type: ignore[index]  # a buffer is a tensor
        vectors = self.items(given.histories) + self.read(tokens).sum(dim=-2)
        encoded, _ = self.encoder(self.dropout(vectors))
        hidden = encoded[given.users, given.places - 1][:, None]
        dropped = None
        if self.training and self.dropout.p > 0:
            dropped = self.dropout(torch.ones_like(hidden))
        return RankerMemory(hidden, dropped)

    def score(self, memory: RankerMemory, nodes: TrieNodes) -> Float[Tensor, "batch k a"]:
        start = self.starts[nodes.depth]
        here = slice(start, start + self.sizes[nodes.depth])
        hidden = memory.hidden if memory.dropped is None else memory.hidden * memory.dropped
        scores = nn.functional.linear(hidden, self.vectors.weight[here], self.bias[here])
        return scores.gather(-1, nodes.children.tokens)

    def advance(self, memory: RankerMemory, nodes: TrieNodes, move: Move) -> RankerMemory:
        dropped = None if memory.dropped is None else move.keep(memory.dropped)
        before = move.follow(memory.hidden)
        tokens = self.written(nodes.tokens + self.starts[nodes.depth - 1])
        after = self.decoder(tokens.flatten(0, 1), before.flatten(0, 1))
        return replace(memory, hidden=after.view_as(before), dropped=dropped)
