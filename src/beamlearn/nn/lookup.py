"""Rows of a table that are read at every step of a search."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import embedding_bag


class Lookup:
    """Sums of rows of a table, with a gradient that costs as much as what was read.

    Autograd would make a gradient of the size of the table at every step, mostly zeros, and add
    them up. Here all steps add into one.
    """

    def __init__(self, table: Float[Tensor, "rows size"]) -> None:
        self.table = table.detach()
        self.token: Tensor | None = None
        if torch.is_grad_enabled() and table.requires_grad:
            gradient = torch.zeros_like(self.table)
            self.gradient = gradient
            self.token = _Collect.apply(table, gradient)  # type: ignore[no-untyped-call]

    def __call__(self, rows: Int[Tensor, "n m"]) -> Float[Tensor, "n size"]:
        """The sum of m rows, n times."""
        if self.token is None or not torch.is_grad_enabled():
            return embedding_bag(rows, self.table, mode="sum")
        found: Tensor = _Read.apply(self.token, self.table, rows, self.gradient)  # type: ignore[no-untyped-call]
        return found


class _Collect(Function):
    """Pass on the gradient of the table once all who read it have added theirs."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, gradient: Tensor) -> Tensor:
        ctx.gradient = gradient
        return table.new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, None]:
        found = ctx.gradient.clone()
        ctx.gradient.zero_()
        return found, None


class _Read(Function):
    """Read rows; add to their gradient when it comes."""

    @staticmethod
    def forward(ctx: Any, _: Tensor, table: Tensor, rows: Tensor, gradient: Tensor) -> Tensor:
        ctx.rows, ctx.gradient = rows, gradient
        return embedding_bag(rows, table, mode="sum")

    @staticmethod
    def backward(ctx: Any, coming: Tensor) -> tuple[Tensor, None, None, None]:
        n, m = ctx.rows.shape
        spread = coming[:, None].expand(n, m, -1).reshape(n * m, -1)
        ctx.gradient.index_add_(0, ctx.rows.flatten(), spread)
        return coming.new_zeros(()), None, None, None
