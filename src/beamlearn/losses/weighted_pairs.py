"""Sums of weighted hinges over pairs of neighbors, without visiting every pair.

For neighbors in increasing order of cost, each pair i before j contributes

    (c[j] - c[i]) * max(0, s[j] - s[i] + 1)

Halving the order by cost again and again covers the pairs by rectangles "i in the cheaper half,
j in the costlier half". In one of them the hinge of (i, j) is active when s[i] < s[j] + 1; with
the scores sorted, every j needs only its `reach`, the number of scores below s[j] + 1, to read
the count and the summed cost of its active partners off prefix sums.

One sort and one binary search serve all levels: halving keeps the order by score, and how far
each j reaches into its half is again read off a prefix sum, as in a wavelet tree. All pairs
take O(n log n) time and O(n) memory.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

BLOCK = 32
"""Blocks of this size are summed pair by pair: cheaper than five more levels."""
ONE_BLOCK = 128
"""Up to this many neighbors, all pairs are summed one by one."""

Weights = Float[Tensor, "... m"]
Reach = Int[Tensor, "... m"]


def hinge_pairs(
    scores: Float[Tensor, "batch n"],
    costs: Float[Tensor, "batch n"],
    mask: Bool[Tensor, "batch n"],
) -> Float[Tensor, " batch"]:
    """Sum over all pairs i < j; entries in increasing order of cost, those of `mask` first."""
    with torch.no_grad():
        n = scores.shape[-1]
        block = n if n <= ONE_BLOCK else BLOCK
        s, c = _without_padding(scores, costs, mask, block)
        gain, total = _within_blocks(s, c, block)
        ordered, rank = s.sort(dim=-1)
        reach = torch.searchsorted(ordered, ordered + 1)
        size = s.shape[-1]
        while size > block:
            low = (rank & (size // 2)) == 0
            here = (c.gather(-1, rank), low.to(c.dtype), (~low).to(c.dtype), reach)
            more, weight = _rectangle(*(_grouped(field, size) for field in here))
            gain.scatter_add_(-1, rank, more.flatten(1))
            total += weight.sum(dim=-1)
            rank, reach = _halve(rank, reach, low, size)
            size //= 2
    return _loss(scores, gain[:, :n], total)


def hinge_rectangle(
    scores: Float[Tensor, "batch n"],
    costs: Float[Tensor, "batch n"],
    cheaper: Bool[Tensor, "batch n"],
    costlier: Bool[Tensor, "batch n"],
) -> Float[Tensor, " batch"]:
    """Sum over all pairs with i in `cheaper` and j in `costlier`."""
    with torch.no_grad():
        s, c, low, high = (f.to(_precise(f)) for f in (scores, costs, cheaper, costlier))
        ordered, rank = s.sort(dim=-1)
        reach = torch.searchsorted(ordered, ordered + 1)
        c, low, high = (field.gather(-1, rank) for field in (c, low, high))
        gain, total = _rectangle(c, low, high, reach)
        gain = torch.empty_like(gain).scatter_(-1, rank, gain)
    return _loss(scores, gain, total)


def _loss(
    scores: Float[Tensor, "batch n"], gain: Float[Tensor, "batch n"], total: Float[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """Turn the weights of the active pairs into the loss, with its value and its gradient.

    The weight w of an active pair adds w to the gain of its costlier member j, takes w from that
    of the cheaper one i, and adds w to the total. The sum of w (s[j] - s[i] + 1) over all active
    pairs is then s . gain + total, and its gradient is the gain.
    """
    return ((scores.to(gain.dtype) * gain).sum(dim=-1) + total).to(scores.dtype)


def _without_padding(
    scores: Float[Tensor, "batch n"],
    costs: Float[Tensor, "batch n"],
    mask: Bool[Tensor, "batch n"],
    block: int,
) -> tuple[Float[Tensor, "batch m"], Float[Tensor, "batch m"]]:
    """Scores and costs as a power of two of blocks, whose padding takes part in no pair.

    It comes last, so with a neighbor it could only be the costlier member, and for that it scores
    too low; among itself it has no differences of cost.
    """
    s, c = scores.to(_precise(scores)), costs.to(_precise(costs))
    lowest = s.masked_fill(~mask, torch.inf).amin(dim=-1, keepdim=True).clamp(max=0.0) - 2
    n = s.shape[-1]
    length = block << ((n - 1) // block).bit_length()
    mask, s, c = (pad(field, (0, length - n)) for field in (mask, s, c))
    return torch.where(mask, s, lowest), torch.where(mask, c, 0.0)


def _rectangle(
    c: Weights, low: Weights, high: Weights, reach: Reach
) -> tuple[Weights, Float[Tensor, "..."]]:
    """Gains and total weight of the pairs (low, high) of each row, in order of score.

    The entry j reaches the first `reach[j]` entries; `low` and `high` are 1 for the members of
    the two sides and 0 elsewhere.
    """
    count, total = _before(torch.stack([low, low * c]), reach)
    up = high * (c * count - total)
    count, total = _reaching(torch.stack([high, high * c]), reach)
    return up - low * (total - c * count), up.sum(dim=-1)


def _before(weights: Weights, reach: Reach) -> Weights:
    """For each entry, the sum over those that it reaches."""
    return pad(weights.cumsum(dim=-1), (1, 0)).gather(-1, reach.expand_as(weights))


def _reaching(weights: Weights, reach: Reach) -> Weights:
    """For each entry, the sum over those that reach it."""
    short = pad(torch.zeros_like(weights), (0, 1))
    short = short.scatter_add_(-1, reach.expand_as(weights), weights).cumsum(dim=-1)
    return short[..., -1:] - short[..., :-1]


def _halve(
    rank: Int[Tensor, "batch n"],
    reach: Int[Tensor, "batch n"],
    low: Bool[Tensor, "batch n"],
    size: int,
) -> tuple[Int[Tensor, "batch n"], Int[Tensor, "batch n"]]:
    """Sort each group of `size` into its cheaper and its costlier half, each in order of score."""
    rank, reach, low = (_grouped(field, size) for field in (rank, reach, low))
    ahead = pad(low.cumsum(dim=-1), (1, 0))
    reached, ahead = ahead.gather(-1, reach), ahead[..., :-1]
    behind = torch.arange(size // 2, size // 2 + size, device=rank.device) - ahead
    place = torch.where(low, ahead, behind)
    reach = torch.where(low, reached, reach - reached)
    moved = (torch.empty_like(field).scatter_(-1, place, field) for field in (rank, reach))
    rank, reach = (field.flatten(1) for field in moved)
    return rank, reach


def _within_blocks(
    s: Float[Tensor, "batch n"], c: Float[Tensor, "batch n"], block: int
) -> tuple[Float[Tensor, "batch n"], Float[Tensor, " batch"]]:
    """Gains and total weight of the pairs inside blocks of similar cost, pair by pair."""
    s, c = _grouped(s, block), _grouped(c, block)
    active = (s[..., :, None] < s[..., None, :] + 1).triu(1)
    weight = torch.where(active, c[..., None, :] - c[..., :, None], 0.0)
    up, down = weight.sum(dim=-2), weight.sum(dim=-1)
    return (up - down).flatten(1), up.sum(dim=(-1, -2))


def _grouped(field: Tensor, size: int) -> Tensor:
    return field.reshape(*field.shape[:-1], field.shape[-1] // size, size)


def _precise(field: Tensor) -> torch.dtype:
    """Sums over thousands of pairs want double precision; Apple's GPUs have none."""
    return torch.float32 if field.device.type == "mps" else torch.float64
