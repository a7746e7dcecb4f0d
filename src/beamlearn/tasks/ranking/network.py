"""A recurrent network that reads a history and scores the next token of an id."""

from itertools import accumulate
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...search.neighbors import Move
from ...search.scorer import Scorer
from ...search.trie_space import TrieNodes, TrieSpace
from .positions import Positions


@final
class RecurrentRanker(Scorer):
    """s(token) = v_token . state, with one set of vectors for each position of an id.

    A GRU reads the history; an item is the sum of its own vector and those of its tokens. Its
    state is where another GRU begins, which writes the id. Dropout is of what is read alone: the
    hypotheses of an example stay comparable.
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

    def start(self, space: TrieSpace) -> Float[Tensor, "batch 1 size"]:
        given: Positions = space.inputs
        tokens = self.tokens_of[given.histories]  # type: ignore[index]  # a buffer is a tensor
        vectors = self.items(given.histories) + self.read(tokens).sum(dim=-2)
        encoded, _ = self.encoder(self.dropout(vectors))
        hidden: Tensor = encoded[given.users, given.places - 1]
        return hidden[:, None]

    def score(
        self, memory: Float[Tensor, "batch k size"], nodes: TrieNodes
    ) -> Float[Tensor, "batch k a"]:
        start = self.starts[nodes.depth]
        here = slice(start, start + self.sizes[nodes.depth])
        scores = nn.functional.linear(memory, self.vectors.weight[here], self.bias[here])
        return scores.gather(-1, nodes.children.tokens)

    def advance(
        self, memory: Float[Tensor, "batch k size"], nodes: TrieNodes, move: Move
    ) -> Float[Tensor, "batch m size"]:
        before = move.follow(memory)
        tokens = self.written(nodes.tokens + self.starts[nodes.depth - 1])
        after: Tensor = self.decoder(tokens.flatten(0, 1), before.flatten(0, 1))
        return after.view_as(before)
