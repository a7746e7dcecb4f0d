"""Gumbel noise: a number for every node of a tree, which depends on its path and a seed alone."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

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
    bits = (keys >> 12) & ((1 << 52) - 1)
    uniform = (bits.double() + 0.5) * 2.0**-52
    return -(-uniform.log()).log()


def conditioned(
    free: Float[Tensor, "*shape a"], greatest: Float[Tensor, "*shape"]
) -> Float[Tensor, "*shape a"]:
    """Shift Gumbels along the last axis so that the largest is `greatest`; -inf stays.

    Kool et al. (2019), Eq. (7) in the form of their Appendix B.3, which does not overflow:

        Z = max(free);  v = greatest - free + log(1 - exp(free - Z))
        G = greatest - max(0, v) - log(1 + exp(-|v|))
    """
    most = free.amax(dim=-1, keepdim=True)
    limit = greatest[..., None]
    v = limit - free + log_one_minus_exp(free - most)
    found = limit - v.clamp(min=0.0) - torch.exp(-v.abs()).log1p()
    return torch.where(free == -torch.inf, -torch.inf, found)


def log_one_minus_exp(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """log(1 - exp(x)) for x <= 0, with all its digits."""
    near = x > -0.6931471805599453
    return torch.where(near, (-torch.expm1(x)).log(), (-x.exp()).log1p())


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
    keys = (keys ^ _shifted(keys, 30)) * FACTORS[0]
    keys = (keys ^ _shifted(keys, 27)) * FACTORS[1]
    return keys ^ _shifted(keys, 31)


def _shifted(keys: Int[Tensor, "*shape"], places: int) -> Int[Tensor, "*shape"]:
    """Shift to the right as unsigned numbers are."""
    return (keys >> places) & ((1 << (64 - places)) - 1)
