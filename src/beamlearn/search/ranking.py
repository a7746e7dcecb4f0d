"""The one total order of neighbors: by score or by cost, ties to the smaller index.

Transitions, losses and decoding all rank through this module, so they never disagree on
which nodes are in the beam. Every function gives the same answer on every device and for every
composition of the batch, exact ties included (`torch.topk` promises neither).
"""

from collections.abc import Callable
from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Values = Float[Tensor, "batch kept"]
Indices = Int[Tensor, "batch kept"]


def by_cost(
    costs: Float[Tensor, "batch n"], mask: Bool[Tensor, "batch n"]
) -> Int[Tensor, "batch n"]:
    """Order the neighbors by increasing cost (star); those that do not exist come last."""
    return costs.masked_fill(~mask, torch.inf).argsort(dim=-1, stable=True)


def least(values: Float[Tensor, "batch n"]) -> Int[Tensor, "batch 1"]:
    """Find the smallest entry of each row, of equals the first.

    Among many entries, first the chunk that has it: minima alone are found ten times faster.
    """
    n = values.shape[-1]
    if values.numel() < WORTH_CHUNKING or n < CHUNK:
        return values.argmin(dim=-1, keepdim=True)
    start = _chunked(values, CHUNK, torch.amin).argmin(dim=-1, keepdim=True) * CHUNK
    index: Tensor = (start + torch.arange(CHUNK, device=values.device)).clamp(max=n - 1)
    place: Tensor = values.gather(-1, index).argmin(dim=-1, keepdim=True)
    return index.gather(-1, place)


CHUNK = 64
"""How many entries `least` takes together."""


def top(values: Float[Tensor, "batch n"], k: int) -> tuple[Values, Indices]:
    """Find the first min(k, n) entries by decreasing value, and their indices.

    An entry of -inf does not exist.
    """
    return top_children(values[:, None], values.new_zeros(len(values), 1), k)


def _top(values: Float[Tensor, "batch n"], k: int) -> tuple[Values, Indices]:
    """The same, looking at all of them.

    `torch.topk` finds the right values and, where no two of the first k + 1 are equal, the right
    indices; rows with such a tie are looked at again.
    """
    n = values.shape[-1]
    if k == 1 or n == 1:
        first = values.max(dim=-1, keepdim=True)  # of equals the first, as torch documents
        return first.values, first.indices
    best, index = values.topk(min(k + 1, n), dim=-1)
    kept, index = best[:, :k], index[:, :k]
    if not _strict(best) and (tied := _tied(best)).any():
        index[tied] = _first_of_equals(values[tied], kept[tied], index[tied])
    return kept, index


def cheapest(
    costs: Float[Tensor, "batch n"],
    scores: Float[Tensor, "batch n"],
    mask: Bool[Tensor, "batch n"],
    k: int,
) -> tuple[Bool[Tensor, "batch kept"], Indices]:
    """Find the first min(k, n) neighbors by cost; ties by higher score, then smaller index.

    This is the order of oracle and reset transitions. Returns which entries exist (a row may
    have fewer neighbors than k) and their indices. Linear in n: all below the k-th smallest
    cost are in, and those that tie with it compete by score.
    """
    k = min(k, costs.shape[-1])
    costs = costs.masked_fill(~mask, torch.inf)
    smallest, index = costs.topk(k, dim=-1, largest=False)
    bar = smallest[:, -1:]
    below = smallest < bar
    ties = (costs == bar) & mask
    _, competing = top(scores.masked_fill(~ties, -torch.inf), k)
    vacant = k - below.sum(dim=-1, keepdim=True)
    invited = (torch.arange(k, device=costs.device) < vacant) & ties.gather(-1, competing)
    index, order = torch.cat([index, competing], dim=-1).sort(dim=-1)
    chosen = torch.cat([below, invited], dim=-1).gather(-1, order)
    for values, descending in ((scores, True), (costs, False)):
        last = -torch.inf if descending else torch.inf
        key = values.gather(-1, index).masked_fill(~chosen, last)
        order = key.argsort(dim=-1, descending=descending, stable=True)
        index, chosen = index.gather(-1, order), chosen.gather(-1, order)
    return chosen[:, :k], index[:, :k]


def top_children(
    local: Float[Tensor, "batch slots a"],
    offset: Float[Tensor, "batch slots"],
    k: int,
    only_child: Bool[Tensor, "batch slots"] | None = None,
    scale: float = 1.0,
) -> tuple[Values, Indices]:
    """Find the k best of `scale * local + offset[..., None]`, flattened, without forming that.

    An entry of -inf in `local` is no child. A slot in `only_child` has one, action 0, whose
    value is its offset; with an offset of -inf it has none. Its row of `local` is not read.

    Rows of many actions are cut into chunks. Rounding is monotone, so the maximum of a chunk,
    scaled, plus its slot's offset is the maximum of the sums, and the k + 1 best chunks hold
    the k + 1 best children; only where two of these tie is the row summed in full.
    """
    batch, slots, actions = local.shape
    chunk = _chunk(slots * actions, k)
    chunks = -(-actions // chunk)
    spared = batch * (slots * actions - slots * chunks - (k + 1) * chunk)
    if k == 1 or spared < WORTH_CHUNKING or k >= slots * chunks:
        return _top(_sum(local, scale, offset, only_child).flatten(1), k)
    maxima = _sum(_chunked(local, chunk, torch.amax), scale, offset, only_child)
    place = maxima.flatten(1).topk(k + 1, dim=-1).indices
    slot = place // chunks
    start = (place - slot * chunks) * chunk
    action = start[..., None] + torch.arange(chunk, device=local.device)
    index = (slot * actions)[..., None] + action.clamp(max=actions - 1)
    children = local.flatten(1).gather(-1, index.flatten(1)).view_as(index)
    among = None if only_child is None else only_child.gather(-1, slot)
    sums = _sum(children, scale, offset.gather(-1, slot), among, action)
    if actions % chunk:
        sums = sums.masked_fill(action >= actions, -torch.inf)
    best, place = sums.flatten(1).topk(k + 1, dim=-1)
    kept, chosen = best[:, :k], index.flatten(1).gather(-1, place[:, :k])
    if not _strict(best) and (tied := _tied(best)).any():
        among = None if only_child is None else only_child[tied]
        _, chosen[tied] = _top(_sum(local[tied], scale, offset[tied], among).flatten(1), k)
    return kept, chosen


WORTH_CHUNKING = 65536
"""Chunks pay off from this many entries on (benchmarks/selection.py)."""


def _chunk(n: int, k: int) -> int:
    """The size of chunk that leaves about as many chunks as entries in the chosen ones."""
    ideal = sqrt(n / (k + 1))
    return 64 if ideal < 128 else 128 if ideal < 256 else 256


def _chunked(
    values: Float[Tensor, "*rows a"], chunk: int, extreme: Callable[..., Tensor]
) -> Float[Tensor, "*rows chunks"]:
    """The maxima (`torch.amax`) or minima of chunks; the last may be shorter."""
    whole = values.shape[-1] // chunk * chunk
    found = extreme(values[..., :whole].unflatten(-1, (whole // chunk, chunk)), dim=-1)
    if whole == values.shape[-1]:
        return found
    return torch.cat([found, extreme(values[..., whole:], dim=-1, keepdim=True)], dim=-1)


def _sum(
    local: Float[Tensor, "batch slots a"],
    scale: float,
    offset: Float[Tensor, "batch slots"],
    only_child: Bool[Tensor, "batch slots"] | None,
    action: Int[Tensor, "batch slots a"] | None = None,
) -> Float[Tensor, "batch slots a"]:
    """Scale children and add their slot's offset, as `top_children` defines them."""
    sums: Tensor = scaled(local, scale) + offset[..., None]
    if only_child is None:
        return sums
    action = torch.arange(local.shape[-1], device=local.device) if action is None else action
    alone = torch.where(action == 0, offset[..., None], -torch.inf)
    return torch.where(only_child[..., None], alone, sums)


def scaled(values: Float[Tensor, "*shape"], scale: float) -> Float[Tensor, "*shape"]:
    """Multiply, where there is something to do."""
    return values if scale == 1.0 else values * scale


def _strict(best: Float[Tensor, "batch k"]) -> bool:
    """Are all rows strictly decreasing? A NaN, which sorts first, says no."""
    return bool((best[:, 1:] < best[:, :-1]).all())


def _tied(best: Float[Tensor, "batch k"]) -> Bool[Tensor, " batch"]:
    return ((best[:, 1:] == best[:, :-1]) & (best[:, 1:] > -torch.inf)).any(dim=-1)


def _first_of_equals(values: Float[Tensor, "batch n"], best: Values, index: Indices) -> Indices:
    """Of the entries that equal the last of `best`, take the first; order equals by index."""
    n, k = values.shape[-1], best.shape[-1]
    last = best == best[:, -1:]
    early = torch.arange(n, 0, -1, device=values.device)
    equals = n - torch.where(values == best[:, -1:], early, 0).topk(k, dim=-1).values
    vacant = torch.arange(k, device=values.device) < last.sum(dim=-1, keepdim=True)
    both = torch.cat([index.masked_fill(last, n), equals.masked_fill(~vacant, n)], dim=-1)
    index = both.sort(dim=-1).values[:, :k]
    order = values.gather(-1, index).argsort(dim=-1, descending=True, stable=True)
    return index.gather(-1, order)
