"""Sums of weighted hinges over pairs of neighbors, without visiting every pair.

For neighbors in increasing order of cost, each pair i before j contributes

    (c[j] - c[i]) * max(0, s[j] - s[i] + 1)

The pairs are covered by rectangles "some i, some later j", as merge sort covers them. In one
rectangle the hinge of (i, j) is active when s[i] < s[j] + 1; with the scores sorted, every j
finds how many i are active, and the sum of their costs, by one binary search in prefix sums.
All pairs take O(n log^2 n) time and O(n) memory.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

BLOCK = 16
"""Blocks of this size are summed pair by pair: cheaper than four more levels of sorting."""


def hinge_pairs(
    scores: Float[Tensor, "batch n"],
    costs: Float[Tensor, "batch n"],
    mask: Bool[Tensor, "batch n"],
) -> Float[Tensor, " batch"]:
    """Sum over all pairs i < j of `mask`; the entries must be in increasing order of cost."""
    with torch.no_grad():
        s, c = (_blocks(field.to(_precise(field))) for field in (scores, costs))
        m = _blocks(mask)
        down, up = _within(s, c, m)
        while s.shape[1] > 1:
            cheaper_down, dearer_up = _between(
                s[:, 0::2], c[:, 0::2], m[:, 0::2], s[:, 1::2], c[:, 1::2], m[:, 1::2]
            )
            down[:, 0::2] += cheaper_down
            up[:, 1::2] += dearer_up
            s, c, m, down, up = (_merge(field) for field in (s, c, m, down, up))
    n = scores.shape[-1]
    return _total(scores, down[:, 0, :n], up[:, 0, :n])


def hinge_rectangle(
    scores: Float[Tensor, "batch n"],
    costs: Float[Tensor, "batch n"],
    cheaper: Bool[Tensor, "batch n"],
    dearer: Bool[Tensor, "batch n"],
) -> Float[Tensor, " batch"]:
    """Sum over all pairs with i in `cheaper` and j in `dearer`."""
    with torch.no_grad():
        s, c = (field.to(_precise(field))[:, None] for field in (scores, costs))
        low, high = cheaper[:, None], dearer[:, None]
        down, up = _between(s, c, low, s, c, high)
    return _total(scores, down[:, 0], up[:, 0])


def _total(
    scores: Float[Tensor, "batch n"], down: Float[Tensor, "batch n"], up: Float[Tensor, "batch n"]
) -> Float[Tensor, " batch"]:
    """Turn weights into the loss, with the right value and the right gradient.

    `down[i]` is the summed weight of the active pairs in which i is the cheaper one, `up[j]`
    of those in which j is the dearer one. The sum of w (s[j] - s[i] + 1) over active pairs is
    then s . (up - down) + sum(up), and its gradient is up - down.
    """
    s = scores.to(up.dtype)
    return ((s * (up - down)).sum(dim=-1) + up.sum(dim=-1)).to(scores.dtype)


Half = Float[Tensor, "batch blocks m"]
Halves = tuple[Half, Half]


def _within(s: Half, c: Half, m: Bool[Tensor, "batch blocks m"]) -> Halves:
    """Weights of the pairs inside each block, pair by pair."""
    later = torch.ones(s.shape[-1], s.shape[-1], dtype=torch.bool, device=s.device).triu(1)
    active = later & m[..., :, None] & m[..., None, :] & (s[..., :, None] < s[..., None, :] + 1)
    weight = (c[..., None, :] - c[..., :, None]) * active
    return weight.sum(dim=-1), weight.sum(dim=-2)


def _between(
    s_low: Half,
    c_low: Half,
    m_low: Bool[Tensor, "batch blocks m"],
    s_high: Half,
    c_high: Half,
    m_high: Bool[Tensor, "batch blocks m"],
) -> Halves:
    """Weights of the pairs with one end in each half: `down` of the low, `up` of the high."""
    reach = s_high + 1  # both searches compare with this number, so they agree on every pair
    ordered, count, total = _prefix_sums(s_low, c_low, m_low)
    below = torch.searchsorted(ordered, reach)
    up = (c_high * count.gather(-1, below) - total.gather(-1, below)) * m_high
    ordered, count, total = _prefix_sums(reach, c_high, m_high)
    beyond = torch.searchsorted(ordered, s_low, right=True)
    count, total = (field[..., -1:] - field.gather(-1, beyond) for field in (count, total))
    return (total - c_low * count) * m_low, up


def _prefix_sums(keys: Half, c: Half, m: Bool[Tensor, "batch blocks m"]) -> tuple[Half, Half, Half]:
    """Sort by `keys`; of the first 0, 1, ... entries, the number and the summed cost."""
    ordered, order = keys.sort(dim=-1)
    there = m.gather(-1, order).to(c.dtype)
    cost = c.gather(-1, order) * there
    pad = torch.nn.functional.pad
    return ordered, pad(there.cumsum(dim=-1), (1, 0)), pad(cost.cumsum(dim=-1), (1, 0))


def _blocks(field: Tensor) -> Tensor:
    """Pad a row to a power of two blocks."""
    n = field.shape[-1]
    blocks = 1 << max(0, (n - 1) // BLOCK).bit_length()
    return torch.nn.functional.pad(field, (0, blocks * BLOCK - n)).unflatten(-1, (blocks, BLOCK))


def _merge(field: Tensor) -> Tensor:
    """Join neighboring blocks."""
    return field.flatten(1).unflatten(-1, (field.shape[1] // 2, -1))


def _precise(field: Tensor) -> torch.dtype:
    """Sums over thousands of pairs want double precision; Apple's GPUs have none."""
    return torch.float32 if field.device.type == "mps" else torch.float64
