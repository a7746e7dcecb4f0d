"""Attention of the hypotheses of a beam: to their own past, and to a source."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ..search.neighbors import Move


def attend(
    queries: Float[Tensor, "batch heads q size"],
    keys: Float[Tensor, "batch heads n size"],
    values: Float[Tensor, "batch heads n size"],
    mask: Float[Tensor, "batch 1 #q n"] | None,
) -> Float[Tensor, "batch q whole"]:
    """softmax(q k / sqrt(size) + mask) v; None: every query sees everything."""
    found = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    return found.transpose(1, 2).flatten(2)


def additive_mask(sees: Bool[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """A mask for `attend`: 0 for what is seen, -inf for the rest; once for all layers."""
    return torch.zeros(sees.shape, device=sees.device).masked_fill_(~sees, -torch.inf)


def heads_of(
    joint: Float[Tensor, "batch n parts"], parts: int, heads: int
) -> tuple[Float[Tensor, "batch heads n size"], ...]:
    """Cut vectors into their parts, such as queries, keys and values, and these into heads."""
    split = joint.unflatten(-1, (parts, heads, -1)).permute(2, 0, 3, 1, 4)
    return tuple(split.unbind(dim=0))


@final
@dataclass(frozen=True)
class Past:
    """Keys and values of every node of every beam so far, in one layer.

    Nothing is copied where a beam goes on: a hypothesis sees its ancestors through a mask, and
    what fell out of the beam is unseen, until it is forgotten together with other such nodes.
    Without gradients, room is kept for later nodes, so that a past must be extended only once.
    """

    keys: Float[Tensor, "batch heads room size"]
    values: Float[Tensor, "batch heads room size"]
    used: int

    @property
    def seen(self) -> tuple[Tensor, Tensor]:
        """The keys and values that are there."""
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]

    def keep(self, move: Move) -> "Past":
        """The past of the rows that go on."""
        if move.rows is None:
            return self
        keys, values = (self._kept(held, move.rows) for held in (self.keys, self.values))
        return Past(keys, values, self.used)

    def only(self, nodes: Int[Tensor, "batch m"]) -> "Past":
        """The past with some of its nodes, example by example."""
        heads, size = self.keys.shape[1], self.keys.shape[3]
        index = nodes[:, None, :, None].expand(-1, heads, -1, size)
        keys, values = (held.gather(2, index) for held in self.seen)
        return Past(keys, values, nodes.shape[1])

    def extended(
        self, keys: Float[Tensor, "batch heads k size"], values: Float[Tensor, "batch heads k size"]
    ) -> "Past":
        """The past with the nodes of one more beam."""
        used = self.used + keys.shape[2]
        return Past(self._put(self.keys, keys), self._put(self.values, values), used)

    def _kept(self, held: Tensor, rows: Tensor) -> Tensor:
        """Some rows, and as much room as there was."""
        if torch.is_grad_enabled():
            return held[:, :, : self.used].index_select(0, rows)
        room = held.new_empty(len(rows), *held.shape[1:])
        torch.index_select(held[:, :, : self.used], 0, rows, out=room[:, :, : self.used])
        return room

    def _put(self, held: Tensor, new: Tensor) -> Tensor:
        used, needed = self.used, self.used + new.shape[2]
        if torch.is_grad_enabled():
            return torch.cat([held[:, :, :used], new], dim=2)
        if held.shape[2] < needed:
            room = new.new_empty(*new.shape[:2], max(needed, 2 * used), new.shape[3])
            room[:, :, :used] = held[:, :, :used]
            held = room
        held[:, :, used:needed] = new
        return held


@final
class DropoutMasks:
    """Dropout masks that depend on the example and the depth of a node alone.

    All hypotheses of an example at one depth are given the same mask, so that they stay
    comparable, and scoring a node again finds the mask that it had. Masks are drawn when they
    are first asked for, from a seed that is drawn at once.
    """

    def __init__(self, batch: int, sizes: tuple[int, ...], rate: float) -> None:
        self.batch, self.sizes, self.rate = batch, sizes, rate
        self.seed = int(torch.randint(2**62, ()))
        self.drawn: list[Float[Tensor, "batch total"]] = []

    def at(
        self, depth: int, examples: Int[Tensor, " rows"]
    ) -> tuple[Float[Tensor, "rows 1 size"], ...]:
        """The masks of some examples at one depth, for each place that drops something."""
        masks = self._upto(depth)[depth][examples.cpu(), None].to(examples.device)
        return tuple(masks.split(self.sizes, dim=-1))

    def of(
        self, depths: Int[Tensor, "batch nodes"]
    ) -> tuple[Float[Tensor, "batch nodes size"], ...]:
        """The masks of many nodes at once."""
        drawn = torch.stack(self._upto(int(depths.max())), dim=1).to(depths.device)
        rows = torch.arange(self.batch, device=depths.device)[:, None]
        return tuple(drawn[rows, depths].split(self.sizes, dim=-1))

    def _upto(self, depth: int) -> list[Float[Tensor, "batch total"]]:
        kept = 1.0 - self.rate
        while len(self.drawn) <= depth:
            coins = torch.Generator().manual_seed(self.seed + len(self.drawn))
            mask = torch.empty(self.batch, sum(self.sizes)).bernoulli_(kept, generator=coins)
            self.drawn.append(mask / kept)
        return self.drawn
