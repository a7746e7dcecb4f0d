"""Scores of actions as log-probabilities, slot by slot."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

BLOCK = 1 << 18
"""How many numbers are normalized at once."""
NEGLIGIBLE = -80.0
"""exp of this is a normal number in single precision, and nothing beside 1 in double."""


def normalizer(
    local: Float[Tensor, "batch k a"],
    legal: Bool[Tensor, "#batch #k #a"] | None,
    idle: Bool[Tensor, "batch k"] | None,
) -> Float[Tensor, "batch k"]:
    """log sum exp over the legal actions; of slots that have none, some number."""
    if legal is not None:
        local = local.masked_fill(~legal, -torch.inf)
    found = _log_sum(local)
    if bool(found.isfinite().all()):
        return found
    return _with_actions(local, idle).logsumexp(dim=-1)


def normalized(
    local: Float[Tensor, "batch k a"],
    legal: Bool[Tensor, "#batch #k #a"] | None,
    idle: Bool[Tensor, "batch k"] | None,
) -> Float[Tensor, "batch k a"]:
    """Numbers less their `normalizer`; of slots without a legal action, without a gradient.

    Computed at once, which costs half as much where gradients are kept.
    """
    if legal is not None:
        local = torch.where(legal, local, -torch.inf)
    found = local.log_softmax(dim=-1)
    if not bool(found.detach().amax(dim=-1).isnan().any()):
        return found
    return _with_actions(local, idle).log_softmax(dim=-1)


def _with_actions(
    local: Float[Tensor, "batch k a"], idle: Bool[Tensor, "batch k"] | None
) -> Float[Tensor, "batch k a"]:
    """Zeros in slots that are idle or without a legal action."""
    if idle is not None:
        local = local.masked_fill(idle[..., None], 0.0)
    empty = (local.detach().amax(dim=-1) == -torch.inf)[..., None]
    return local.masked_fill(empty, 0.0)


def _log_sum(local: Float[Tensor, "batch k a"]) -> Float[Tensor, "batch k"]:
    """log sum exp over the actions, in blocks that a cache can hold.

    exp is up to thirty times slower where its result is too small for a normal number; what is
    that far below the greatest changes no digit of the sum.
    """
    blocks = local.flatten(0, 1).split(max(1, BLOCK // max(1, local.shape[2])))
    sums = []
    for block in blocks:
        greatest = block.amax(dim=-1, keepdim=True)
        shares = (block - greatest).clamp_(min=NEGLIGIBLE).exp_()
        sums.append(shares.sum(dim=-1).log_().add_(greatest[:, 0]))
    return torch.cat(sums).view(local.shape[:2])
