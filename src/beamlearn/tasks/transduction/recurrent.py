"""A recurrent network with attention that scores the next token of every hypothesis."""

from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ...nn.alignment import Alignment
from ...nn.context import Bidirectional
from ...search.neighbors import Move
from ...search.scorer import Scorer
from .space import END, TransductionPosition, TransductionSpace


@dataclass(frozen=True)
class RecurrentMemory:
    """The encoded sources, and the state of each hypothesis."""

    encoded: Float[Tensor, "batch n whole"]
    keys: Float[Tensor, "batch n size"]
    filled: Bool[Tensor, "batch 1 n"] | None
    """Where there is a source symbol; None: everywhere."""
    vectors: Float[Tensor, "actions size"]
    """Of the tokens, by which they are scored."""
    given: Float[Tensor, "actions gates"]
    """What each token adds to the gates of the LSTM; in training with dropout, once per batch."""
    dropped: Float[Tensor, "batch 1 size"] | None
    """One dropout mask per example: its hypotheses stay comparable."""
    hidden: Float[Tensor, "batch k size"]
    cell: Float[Tensor, "batch k size"]
    looked: Float[Tensor, "batch k n"]
    """Where each hypothesis looked last."""
    read: Float[Tensor, "batch k whole"]
    """What it read there."""
    room: Float[Tensor, "2 _"] | None = None
    """Where the alignment is computed, without gradients."""


@final
class RecurrentTransducer(Scorer):
    """s(token) = v_token . tanh(W [state, what the state reads in the source]).

    An LSTM in both directions reads the source, another one writes; `Alignment` says where it
    reads. In training, one dropout mask per example is drawn for all steps of the writer, and one
    per token, for the whole batch, for the vectors of the tokens that it has written.
    """

    complete = True

    def __init__(
        self,
        symbols: int,
        actions: int,
        *,
        size: int = 128,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.normalize = "log_softmax"
        self.size = size
        self.symbols, self.tokens = nn.Embedding(symbols, size), nn.Embedding(actions, size)
        self.encoder = Bidirectional(size, size, layers, dropout)
        whole = self.encoder.size
        self.alignment = Alignment(whole, size, size)
        self.begin = nn.Linear(whole, 2 * size)
        self.given = nn.Linear(size, 4 * size)
        self.recurrent = nn.Linear(size + whole, 4 * size, bias=False)
        self.join = nn.Linear(size + whole, size)
        self.bias = nn.Parameter(torch.zeros(actions))
        self.dropout = nn.Dropout(dropout)

    def start(self, space: TransductionSpace) -> RecurrentMemory:
        symbols = self.dropout(self.symbols(space.sources))
        encoded = self.dropout(self.encoder(symbols, space.lengths))
        longest = encoded.shape[1]
        filled = None if space.filled is None else space.filled[:, None]
        hidden, cell = self.begin(encoded[:, :1]).tanh().chunk(2, dim=-1)
        vectors = self.tokens.weight
        dropped = None
        if self.training and self.dropout.p > 0:
            dropped = self.dropout(torch.ones_like(hidden))
        before = RecurrentMemory(
            encoded,
            self.alignment.key(encoded),
            filled,
            vectors,
            self.given(self.dropout(vectors)),
            dropped,
            hidden,
            cell,
            encoded.new_zeros(len(space), 1, longest),
            encoded.new_zeros(len(space), 1, encoded.shape[2]),
        )
        first = torch.full((len(space), 1), END, device=encoded.device)
        return self.write(before, first)

    def score(
        self, memory: RecurrentMemory, nodes: TransductionPosition
    ) -> Float[Tensor, "batch k a"]:
        found = self.join(torch.cat([memory.hidden, memory.read], dim=-1)).tanh()
        if memory.dropped is not None:
            found = found * memory.dropped
        return nn.functional.linear(found, memory.vectors, self.bias)

    def advance(
        self, memory: RecurrentMemory, nodes: TransductionPosition, move: Move
    ) -> RecurrentMemory:
        filled, dropped = memory.filled, memory.dropped
        followed = replace(
            memory,
            encoded=move.keep(memory.encoded),
            keys=move.keep(memory.keys),
            filled=None if filled is None else move.keep(filled),
            dropped=None if dropped is None else move.keep(dropped),
            hidden=move.follow(memory.hidden),
            cell=move.follow(memory.cell),
            looked=move.follow(memory.looked),
            read=move.follow(memory.read),
        )
        return self.write(followed, move.actions)

    def write(self, before: RecurrentMemory, tokens: Int[Tensor, "batch k"]) -> RecurrentMemory:
        """The state of each hypothesis after one more token, and what it reads then."""
        hidden = before.hidden
        if before.dropped is not None:
            hidden = hidden * before.dropped
        gates = before.given[tokens] + self.recurrent(torch.cat([hidden, before.read], dim=-1))
        inputs, forget, out = gates[..., : 3 * self.size].sigmoid().chunk(3, dim=-1)
        cell = forget * before.cell + inputs * gates[..., 3 * self.size :].tanh()
        hidden = out * cell.tanh()
        room = self.alignment.room(before.keys, tokens.shape[1], before.room)
        looked = self.alignment(before.keys, hidden, before.looked, before.filled, room)
        read = looked @ before.encoded
        return replace(before, hidden=hidden, cell=cell, looked=looked, read=read, room=room)
