"""Attention that knows where it has looked: an alignment that moves along the source."""

import math
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

KEPT = 1 << 20
"""With more numbers per step than this, they are computed again for the gradient."""
BLOCK = 1 << 20
"""How many numbers are computed at once along a long source, where no gradient is asked for."""
LONG = 128
"""The symbols of a long source; for shorter ones, one place for all steps costs time."""


@final
class Alignment(nn.Module):
    """Where in the source each hypothesis looks next.

    e[i] = v . tanh(W key[i] + U query + F window(last)[i]);  a = softmax(e)

    `last` is where the hypothesis looked before, seen through a window of `reach` symbols to
    both sides: alignments of spelling and sound are nearly monotonic, and the window lets the
    network learn to step to the right.
    """

    def __init__(self, keys: int, queries: int, size: int, reach: int = 2) -> None:
        super().__init__()
        self.reach = reach
        self.key, self.query = nn.Linear(keys, size), nn.Linear(queries, size, bias=False)
        self.window = nn.Linear(2 * reach + 1, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)

    def forward(
        self,
        keys: Float[Tensor, "batch n size"],
        queries: Float[Tensor, "batch k q"],
        last: Float[Tensor, "batch k n"],
        filled: Bool[Tensor, "batch 1 n"] | None,
        room: Float[Tensor, "2 _"] | None = None,
    ) -> Float[Tensor, "batch k n"]:
        """The share of its attention that each hypothesis gives to each symbol.

        `keys` are those of `self.key`, which are computed once per source. With `room`, that of
        `self.room`, nothing is computed for a gradient.
        """
        around = nn.functional.pad(last, (self.reach, self.reach)).unfold(-1, 2 * self.reach + 1, 1)
        parts = (keys, self.query(queries), around)
        energy: Tensor
        if room is not None:
            energy = self._energy_in(room, *parts)
        elif torch.is_grad_enabled() and keys.numel() * queries.shape[1] > KEPT:
            energy = checkpoint(self._energy, *parts, use_reentrant=False, preserve_rng_state=False)
        else:
            energy = self._energy(*parts)
        if filled is not None:
            energy = energy.masked_fill(~filled, -torch.inf)
        return energy.softmax(dim=-1)

    def room(
        self,
        keys: Float[Tensor, "batch n size"],
        slots: int,
        held: Float[Tensor, "2 _"] | None = None,
    ) -> Float[Tensor, "2 _"] | None:
        """Where all steps of a search compute, `held` if it is enough; None: anywhere.

        Long sources need much room at every step. Given back and asked for again between the small
        tensors that a search keeps, it would leave holes in memory that grow with every step.
        """
        if torch.is_grad_enabled() or keys.shape[1] < LONG:
            return None
        symbol = keys.shape[0] * slots * keys.shape[2]
        needed = min(max(BLOCK, symbol), symbol * keys.shape[1])
        return held if held is not None and held.shape[1] >= needed else keys.new_empty(2, needed)

    def _energy_in(
        self,
        room: Float[Tensor, "2 numbers"],
        keys: Float[Tensor, "batch n size"],
        asked: Float[Tensor, "batch k size"],
        around: Float[Tensor, "batch k n window"],
    ) -> Float[Tensor, "batch k n"]:
        """`_energy` of a block of symbols after another, in one place of memory."""
        batch, slots, size = asked.shape
        energy = keys.new_empty(batch, slots, keys.shape[1])
        symbols = room.shape[1] // asked.numel()
        for start in range(0, keys.shape[1], symbols):
            block = slice(start, start + symbols)
            shape = batch, slots, keys[0, block].shape[0], size
            seen, windowed = room[:, : math.prod(shape)].view(2, *shape)
            torch.add(keys[:, None, block], asked[:, :, None], out=seen)
            torch.matmul(around[:, :, block], self.window.weight.t(), out=windowed)
            seen.add_(windowed).tanh_()
            energy[..., block] = self.energy(seen)[..., 0]
        return energy

    def _energy(
        self,
        keys: Float[Tensor, "batch n size"],
        asked: Float[Tensor, "batch k size"],
        around: Float[Tensor, "batch k n window"],
    ) -> Float[Tensor, "batch k n"]:
        seen = keys[:, None] + asked[:, :, None] + self.window(around)
        energy: Tensor = self.energy(seen.tanh())[..., 0]
        return energy
