"""Layers of a transformer whose decoder reads the tree of a beam."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .affine import Affine
from .attention import Past, attend, heads_of


@final
class Positions(nn.Module):
    """Sines and cosines of a position, in wavelengths from 2 pi to 10,000 x 2 pi."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.table: Tensor
        self.register_buffer("table", self._drawn(64), persistent=False)

    def forward(self, places: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape size"]:
        longest = int(places.max()) + 1
        if longest > len(self.table):
            self.table = self._drawn(2 * longest).to(self.table)
        return self.table[places]

    def upto(self, length: int) -> Float[Tensor, "length size"]:
        """The first positions."""
        return self.forward(torch.arange(length, device=self.table.device))

    def _drawn(self, length: int) -> Float[Tensor, "length size"]:
        half = self.size // 2
        rates = torch.exp(torch.arange(half) * -(torch.log(torch.tensor(1e4)) / max(1, half - 1)))
        angles = torch.arange(length)[:, None] * rates
        waves = torch.cat([angles.sin(), angles.cos()], dim=-1)
        return nn.functional.pad(waves, (0, self.size - 2 * half))


@final
class EncoderLayer(nn.Module):
    """x <- x + attention(norm(x)); x <- x + W relu(V norm(x))."""

    def __init__(self, size: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.joint = nn.LayerNorm(size), Affine(size, 3 * size)
        self.out = Affine(size, size)
        self.forward_norm, self.inner = nn.LayerNorm(size), Affine(size, feedforward)
        self.outer = Affine(feedforward, size)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch n size"], mask: Float[Tensor, "batch 1 1 n"] | None
    ) -> Float[Tensor, "batch n size"]:
        queries, keys, values = heads_of(self.joint(self.norm(x)), 3, self.heads)
        x = x + self.dropout(self.out(attend(queries, keys, values, mask)))
        found: Tensor = self.dropout(self.outer(self.inner(self.forward_norm(x)).relu_()))
        return x + found


@final
class DecoderLayer(nn.Module):
    """The same, with attention to ancestors, and to the source in between."""

    def __init__(self, size: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.joint = nn.LayerNorm(size), Affine(size, 3 * size)
        self.out = Affine(size, size)
        self.cross_norm, self.ask = nn.LayerNorm(size), Affine(size, size)
        self.tell, self.cross_out = Affine(size, 2 * size), Affine(size, size)
        self.forward_norm, self.inner = nn.LayerNorm(size), Affine(size, feedforward)
        self.outer = Affine(feedforward, size)

    def keys_values(
        self, source: Float[Tensor, "batch n size"]
    ) -> tuple[Float[Tensor, "batch heads n part"], ...]:
        """Keys and values of the source, once for all hypotheses and steps."""
        return tuple(part.contiguous() for part in heads_of(self.tell(source), 2, self.heads))

    def forward(
        self,
        x: Float[Tensor, "batch k size"],
        past: Past | None,
        seen: Float[Tensor, "batch 1 k nodes"],
        source: tuple[Float[Tensor, "batch heads n part"], ...],
        mask: Float[Tensor, "batch 1 1 n"] | None,
        dropped: Sequence[Float[Tensor, "#batch #k size"]] | None,
    ) -> tuple[Float[Tensor, "batch k size"], Past]:
        """The next layer of new nodes, and the past with them; `dropped` has three masks."""
        queries, keys, values = heads_of(self.joint(self.norm(x)), 3, self.heads)
        past = Past(keys, values, keys.shape[2]) if past is None else past.extended(keys, values)
        x = x + _masked(self.out(attend(queries, *past.seen, seen)), dropped, 0)
        (queries,) = heads_of(self.ask(self.cross_norm(x)), 1, self.heads)
        keys, values = source
        x = x + _masked(self.cross_out(attend(queries, keys, values, mask)), dropped, 1)
        found = self.outer(self.inner(self.forward_norm(x)).relu_())
        return x + _masked(found, dropped, 2), past


def _masked(x: Tensor, dropped: Sequence[Tensor] | None, place: int) -> Tensor:
    return x if dropped is None else x * dropped[place]
