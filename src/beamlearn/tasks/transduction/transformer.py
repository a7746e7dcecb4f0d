"""A transformer that scores the next token of every hypothesis of a beam."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ...nn.attention import DropoutMasks, Past, additive_mask
from ...nn.transformer import DecoderLayer, EncoderLayer, Positions
from ...search.neighbors import Move
from ...search.scorer import ParallelScorer
from ...search.visits import Visits
from .space import END, TransductionPosition, TransductionSpace

KeysValues = tuple[Float[Tensor, "batch heads n part"], ...]


@dataclass(frozen=True)
class TransformerMemory:
    """The encoded sources, and the state of each hypothesis."""

    hidden: Float[Tensor, "batch k size"]
    """Of the last token of each hypothesis."""
    source: tuple[KeysValues, ...]
    """Keys and values of the source, layer by layer."""
    filled: Float[Tensor, "batch 1 1 n"] | None
    """A mask of where there is a source symbol; None: everywhere."""
    past: tuple[Past, ...]
    ancestors: Bool[Tensor, "batch k nodes"]
    """Which nodes of the past each hypothesis goes back to, itself among them."""
    dropped: DropoutMasks | None
    table: Float[Tensor, "size a"]
    """The vectors of the tokens, once per search as they are multiplied."""
    crowded: int = 32
    """How long the past may grow before nodes without descendants are looked for."""


@final
class TransformerTransducer(ParallelScorer):
    """s(token) = v_token . decoder(source, tokens so far).

    The encoder, and keys and values of its output, are computed once per source. Hypotheses
    share the keys and values of their common past. In training, dropout in the encoder is
    drawn once per batch; in the decoder it is the same for all hypotheses of an example at one
    depth, in the search and when it is replayed.
    """

    complete = True

    def __init__(
        self,
        symbols: int,
        actions: int,
        *,
        size: int = 128,
        layers: int = 2,
        heads: int = 4,
        feedforward: int = 512,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.accumulate, self.normalize = True, "log_softmax"
        self.scale = size**0.5
        self.symbols, self.tokens = nn.Embedding(symbols, size), nn.Embedding(actions, size)
        for table in (self.symbols, self.tokens):
            nn.init.normal_(table.weight, std=size**-0.5)
        self.positions = Positions(size)
        self.encoder = nn.ModuleList(
            EncoderLayer(size, heads, feedforward, dropout) for _ in range(layers)
        )
        self.encoded = nn.LayerNorm(size)
        self.layers = [DecoderLayer(size, heads, feedforward) for _ in range(layers)]
        self.decoder = nn.ModuleList(self.layers)
        self.decoded = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        self.places = (size,) * (1 + 3 * layers)

    def start(self, space: TransductionSpace) -> TransformerMemory:
        encoded, filled = self.encode(space)
        source = tuple(layer.keys_values(encoded) for layer in self.layers)
        device, batch = encoded.device, len(space)
        dropped = None
        if self.training and self.dropout.p > 0:
            dropped = DropoutMasks(batch, self.places, self.dropout.p)
        tokens = torch.full((batch, 1), END, device=device)
        ancestors = torch.ones(batch, 1, 1, dtype=torch.bool, device=device)
        masks = None if dropped is None else dropped.at(0, torch.arange(batch, device=device))
        hidden, past = self.decode(
            tokens, torch.zeros_like(tokens), None, ancestors, source, filled, masks
        )
        table = self.tokens.weight.t()
        if not torch.is_grad_enabled():
            table = table.contiguous()
        return TransformerMemory(hidden, source, filled, past, ancestors, dropped, table)

    def score(
        self, memory: TransformerMemory, nodes: TransductionPosition
    ) -> Float[Tensor, "batch k a"]:
        rows = memory.hidden.flatten(0, 1) @ memory.table
        return rows.view(*memory.hidden.shape[:2], -1)

    def advance(
        self, memory: TransformerMemory, nodes: TransductionPosition, move: Move
    ) -> TransformerMemory:
        batch, k = move.slots.shape
        itself = torch.eye(k, dtype=torch.bool, device=move.slots.device).expand(batch, k, k)
        past, crowded = tuple(layer.keep(move) for layer in memory.past), memory.crowded
        ancestors = move.follow(memory.ancestors)
        if ancestors.shape[-1] >= crowded and not torch.is_grad_enabled():
            past, ancestors = _remembered(past, ancestors)
            crowded = max(crowded, 2 * ancestors.shape[-1])
        ancestors = torch.cat([ancestors, itself], dim=-1)
        source, filled = memory.source, memory.filled
        if move.rows is not None:
            source = tuple(tuple(map(move.keep, layer)) for layer in source)
            filled = None if filled is None else move.keep(filled)
        dropped = memory.dropped
        masks = None if dropped is None else dropped.at(nodes.length, nodes.examples)
        depths = torch.full((1, 1), nodes.length, device=move.slots.device)
        hidden, past = self.decode(move.actions, depths, past, ancestors, source, filled, masks)
        return TransformerMemory(
            hidden, source, filled, past, ancestors, dropped, memory.table, crowded
        )

    def replay(
        self, memory: TransformerMemory, visits: Visits
    ) -> Iterator[Float[Tensor, "batch k a"]]:
        masks = None if memory.dropped is None else memory.dropped.of(visits.depths)
        hidden, _ = self.decode(
            visits.actions,
            visits.depths,
            None,
            visits.ancestors,
            memory.source,
            memory.filled,
            masks,
        )
        nodes = hidden.shape[1]
        flat = [(s.examples[:, None] * nodes + s.nodes).flatten() for s in visits.slots]
        numbers = hidden.flatten(0, 1).index_select(0, torch.cat(flat)) @ memory.table
        parts = numbers.split([len(part) for part in flat])
        for part, slots in zip(parts, visits.slots, strict=True):
            yield part.unflatten(0, slots.nodes.shape)

    def encode(
        self, space: TransductionSpace
    ) -> tuple[Float[Tensor, "batch n size"], Float[Tensor, "batch 1 1 n"] | None]:
        """What the sources say, symbol by symbol, and where there are symbols."""
        longest = space.sources.shape[1]
        filled = None if space.filled is None else additive_mask(space.filled)[:, None, None]
        x = self.symbols(space.sources) * self.scale + self.positions.upto(longest)
        x = self.dropout(x)
        for layer in self.encoder:
            x = layer(x, filled)
        return self.encoded(x), filled

    def decode(
        self,
        tokens: Int[Tensor, "batch k"],
        depths: Int[Tensor, "#batch #k"],
        past: tuple[Past, ...] | None,
        ancestors: Bool[Tensor, "batch k nodes"],
        source: tuple[KeysValues, ...],
        filled: Float[Tensor, "batch 1 1 n"] | None,
        masks: tuple[Float[Tensor, "#batch #k size"], ...] | None,
    ) -> tuple[Float[Tensor, "batch k size"], tuple[Past, ...]]:
        """The states of new nodes, given the past that they see, and the past with them."""
        x = self.tokens(tokens) * self.scale + self.positions(depths)
        x = x if masks is None else x * masks[0]
        seen = additive_mask(ancestors)[:, None]
        new: list[Past] = []
        for number, layer in enumerate(self.layers):
            x, extended = layer(
                x,
                None if past is None else past[number],
                seen,
                source[number],
                filled,
                None if masks is None else masks[1 + 3 * number : 4 + 3 * number],
            )
            new.append(extended)
        return self.decoded(x), tuple(new)


def _remembered(
    past: tuple[Past, ...], ancestors: Bool[Tensor, "batch k nodes"]
) -> tuple[tuple[Past, ...], Bool[Tensor, "batch k left"]]:
    """Forget nodes without descendants in the beam, where that makes the past half as long."""
    living = ancestors.any(dim=1)
    most = int(living.sum(dim=-1).max())
    if 2 * most > living.shape[1]:
        return past, ancestors
    nodes = living.byte().argsort(dim=-1, descending=True, stable=True)[:, :most]
    index = nodes[:, None].expand(-1, ancestors.shape[1], -1)
    return tuple(layer.only(nodes) for layer in past), ancestors.gather(-1, index)
