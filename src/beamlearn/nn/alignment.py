"""Attention that knows where it has looked: an alignment that moves along the source."""

from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

KEPT = 1 << 20
"""With more numbers per step than this, they are computed again for the gradient."""


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
    ) -> Float[Tensor, "batch k n"]:
        """The share of its attention that each hypothesis gives to each symbol.

        `keys` are those of `self.key`, which are computed once per source.
        """
        around = nn.functional.pad(last, (self.reach, self.reach)).unfold(-1, 2 * self.reach + 1, 1)
        parts = (keys, self.query(queries), around)
        if torch.is_grad_enabled() and keys.numel() * queries.shape[1] > KEPT:
            energy: Tensor = checkpoint(
                self._energy, *parts, use_reentrant=False, preserve_rng_state=False
            )
        else:
            energy = self._energy(*parts)
        if filled is not None:
            energy = energy.masked_fill(~filled, -torch.inf)
        return energy.softmax(dim=-1)

    def _energy(
        self,
        keys: Float[Tensor, "batch n size"],
        asked: Float[Tensor, "batch k size"],
        around: Float[Tensor, "batch k n window"],
    ) -> Float[Tensor, "batch k n"]:
        seen = keys[:, None] + asked[:, :, None] + self.window(around)
        energy: Tensor = self.energy(seen.tanh())[..., 0]
        return energy
