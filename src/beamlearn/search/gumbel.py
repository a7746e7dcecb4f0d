"""Gumbel noise: a number for every node of a tree, which depends on its path and a seed alone."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import softplus

STEP = 0x9E3779B97F4A7C15 - (1 << 64)
FACTORS = (0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64))
"""The constants of the generator SplitMix64, as signed numbers."""
SMALL = -36.0
"""exp of this is as small as the rounding of 1 in double precision."""


def root_keys(seeds: Int[Tensor, " batch"]) -> Int[Tensor, "batch 1"]:
    """The keys of the initial nodes."""
    return _mixed(seeds + STEP)[:, None]


def child_keys(
    parents: Int[Tensor, "*#shape"], actions: Int[Tensor, "*#shape"]
) -> Int[Tensor, "..."]:
    """The keys of nodes that actions lead to: output number `action` of SplitMix64.

    So the key of a node depends on the seed of its example and its path, and on nothing else: not
    on its slot, the width of the beam or the rest of the batch.
    """
    return _mixed(parents + (actions + 1) * STEP)


def gumbels(keys: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Standard Gumbel noise -log(-log(u)), with u strictly between 0 and 1 from a key."""
    uniform = _shifted(keys, 12).double().add_(0.5).mul_(2.0**-52)
    return uniform.log_().neg_().log_().neg_()


def conditioned(
    free: Float[Tensor, "*shape a"], greatest: Float[Tensor, "*shape"]
) -> Float[Tensor, "*shape a"]:
    """Shift Gumbels along the last axis so that the largest is `greatest`; -inf stays.

    Kool et al. (2019), in the form of their appendix, which does not overflow:

        Z = max(free);  v = greatest - free + log(1 - exp(free - Z))
        G = greatest - max(0, v) - log(1 + exp(-|v|)) = greatest - log(1 + exp(v))
    """
    most = free.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(free.dtype).min)
    limit = greatest[..., None]
    v = torch.expm1(free - most).neg_().log_().sub_(free).add_(limit)
    return limit - softplus(v, threshold=-SMALL)


def log_inclusion(
    log_probabilities: Float[Tensor, "*shape"], thresholds: Float[Tensor, "*#shape"]
) -> Float[Tensor, "*shape"]:
    """log of q(y) = P(G > kappa) = 1 - exp(-exp(phi - kappa)), for phi = log p(y).

    Where kappa is -inf, nothing was left out, and q is 1.
    """
    x = log_probabilities - thresholds
    return torch.where(x < SMALL, x, (-torch.expm1(-x.clamp(min=SMALL).exp())).log())


def _mixed(keys: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Scramble the bits of 64-bit numbers, one to one (the last step of SplitMix64)."""
    keys = (keys ^ _shifted(keys, 30)).mul_(FACTORS[0])
    keys = keys.bitwise_xor_(_shifted(keys, 27)).mul_(FACTORS[1])
    return keys.bitwise_xor_(_shifted(keys, 31))


def _shifted(keys: Int[Tensor, "*shape"], places: int) -> Int[Tensor, "*shape"]:
    """Shift to the right as unsigned numbers are."""
    return (keys >> places).bitwise_and_((1 << (64 - places)) - 1)
