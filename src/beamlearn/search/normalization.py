"""The normalizer of scores: log sum exp over the legal actions of each slot."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd import Function

BLOCK = 1 << 18
"""How many numbers are added up at once."""


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
    if bool(found.isfinite().all()):
        return found
    if idle is not None:
        local = local.masked_fill(idle[..., None], 0.0)
    empty = (local.detach().amax(dim=-1) == -torch.inf)[..., None]
    return _log_sum(local.masked_fill(empty, 0.0))


def _log_sum(local: Float[Tensor, "batch k a"]) -> Float[Tensor, "batch k"]:
    found: Tensor = _LogSum.apply(local)  # type: ignore[no-untyped-call]
    return found


class _LogSum(Function):
    """log sum exp over the actions, in blocks that a cache can hold.

    It is read off `log_softmax` where that is highest, the fastest way: there it is
    0 - log sum exp(local - highest).
    """

    @staticmethod
    def forward(ctx: Any, local: Tensor) -> Tensor:
        blocks = local.flatten(0, 1).split(max(1, BLOCK // max(1, local.shape[2])))
        sums = [block.amax(dim=-1) - block.log_softmax(dim=-1).amax(dim=-1) for block in blocks]
        ctx.save_for_backward(local)
        return torch.cat(sums).view(local.shape[:2])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (local,) = ctx.saved_tensors
        return local.softmax(dim=-1) * gradient[..., None]
