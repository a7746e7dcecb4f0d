"""The normalizer of scores: log sum exp over the legal actions of each slot."""

from math import isfinite
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd import Function

BLOCK = 1 << 18
"""How many numbers are added up at once."""
NEGLIGIBLE = -80.0
"""exp of this is a normal number in single precision, and nothing beside 1 in double."""


def normalizer(
    local: Float[Tensor, "batch k a"],
    legal: Bool[Tensor, "#batch #k #a"] | None,
    idle: Bool[Tensor, "batch k"] | None,
) -> Float[Tensor, "batch k"]:
    """log sum exp over the legal actions; for slots without any, a number without a gradient.

    Subtracted from the scores of its slot, it turns them into log-probabilities. The digits are
    the same with and without gradients.
    """
    if legal is not None:
        local = local.masked_fill(~legal, -torch.inf)
    found = _log_sum(local)
    if isfinite(float(found.detach().sum())):  # one number to look at
        return found
    if idle is not None:
        local = local.masked_fill(idle[..., None], 0.0)
    empty = (local.detach().amax(dim=-1) == -torch.inf)[..., None]
    return _log_sum(local.masked_fill(empty, 0.0))


def _log_sum(local: Float[Tensor, "batch k a"]) -> Float[Tensor, "batch k"]:
    if not (local.requires_grad and torch.is_grad_enabled()):
        return _log_sum_exp(local)
    found: Tensor = _LogSum.apply(local)  # type: ignore[no-untyped-call]
    return found


def _log_sum_exp(local: Float[Tensor, "batch k a"]) -> Float[Tensor, "batch k"]:
    """log sum exp over the actions, in blocks that a cache can hold.

    exp is up to thirty times slower where its result is too small for a normal number; what is
    that far below the greatest changes no digit of the sum.
    """
    most = max(1, BLOCK // max(1, local.shape[2]))
    if local.shape[0] * local.shape[1] <= most:
        return _log_sum_of_block(local)
    return torch.cat([*map(_log_sum_of_block, local.flatten(0, 1).split(most))]).view(
        local.shape[:2]
    )


def _log_sum_of_block(block: Float[Tensor, "*rows a"]) -> Float[Tensor, "*rows"]:
    greatest = block.amax(dim=-1, keepdim=True)
    shares = (block - greatest).clamp_(min=NEGLIGIBLE).exp_()
    return shares.sum(dim=-1).log_().add_(greatest[..., 0])


class _LogSum(Function):
    """`_log_sum_exp`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, local: Tensor) -> Tensor:
        ctx.save_for_backward(local)
        return _log_sum_exp(local)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (local,) = ctx.saved_tensors
        shares: Tensor = local.softmax(dim=-1)
        return shares * gradient[..., None]
