"""The n-grams of references: sorted, to be looked up, and matched by those of hypotheses."""

from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import pad

from .space import UNSEEN, References

NOTHING, STRANGE, FIRST = range(3)
"""What fills up a spelling, a unit that matches nothing, and the first of those that may match."""
BASE = 6364136223846793005
"""n-grams are numbered by polynomials of their units at this place, which wrap around."""
NO_NGRAM = torch.iinfo(torch.long).max
FAR = 1 << 32
"""More than any place in a reference."""


@dataclass(frozen=True)
class Counted:
    """What is known of each hypothesis."""

    counts: Int[Tensor, "batch k refs orders slots"]
    """How often it has each n-gram of a reference, at the first slot of its kind."""
    recent: Int[Tensor, "batch k context"]
    """Its last units, as many as an n-gram can look back."""
    length: Int[Tensor, "batch k"]
    """How many units it has."""


@dataclass(frozen=True)
class NgramTables:
    """The n-grams of the references of a batch.

    Those of each order lie sorted in slots, equal ones side by side and by position. The last
    slot, and every position from which an n-gram would reach beyond its reference or has a
    strange unit, holds `NO_NGRAM`. Ends of references begin at their tokens.
    """

    sorted: Int[Tensor, "batch refs orders slots"]
    """The numbers of the n-grams."""
    places: Int[Tensor, "batch refs orders slots"]
    """Of each slot, the first one of its kind times `FAR`, plus the position of its n-gram."""
    kind: Int[Tensor, "batch refs orders slots"]
    """The first slot of the kind of the n-gram before each position."""
    rank: Int[Tensor, "batch refs orders slots"]
    """How many n-grams of that kind come earlier."""
    tokens: Int[Tensor, "batch refs ends"]
    """How many tokens each end has; negative where there is no such end."""
    starts: Int[Tensor, "batch refs ends"]
    """The position at which each end begins."""
    heads: Int[Tensor, "batch refs context ends"]
    """The numbers of the n-grams with which each end begins."""
    within: Int[Tensor, "batch refs orders ends"]
    """How many n-grams begin at or after the start of each end."""
    length: Int[Tensor, "batch refs"]
    """How many units each reference has."""

    def take(self, examples: Int[Tensor, " some"]) -> "NgramTables":
        """The tables of some examples."""
        return NgramTables(*(getattr(self, field.name)[examples] for field in fields(self)))

    def find(
        self, values: Int[Tensor, "batch k #refs orders l"], orders: slice
    ) -> tuple[Int[Tensor, "batch k refs orders l"], Bool[Tensor, "batch k refs orders l"]]:
        """The first slot of each n-gram, and whether it is there at all."""
        among = self.sorted[:, :, orders].contiguous()
        values = values.expand(-1, -1, among.shape[1], -1, -1).movedim(1, 3)
        flat = values.flatten(3).contiguous()
        place = torch.searchsorted(among, flat)
        found = among.gather(-1, place) == flat
        return place.view(values.shape).movedim(3, 1), found.view(values.shape).movedim(3, 1)

    def append(
        self,
        memory: Counted,
        units: Int[Tensor, "batch k longest"],
        lengths: Int[Tensor, "batch k"],
    ) -> Counted:
        """Count the n-grams that end within some more units."""
        orders = self.sorted.shape[2]
        read = torch.cat([memory.recent, units], dim=-1)
        back = read.unfold(-1, units.shape[-1], 1).flip(-2)  # the units 0, 1, ... places earlier
        values = (back * powers(orders, units.device)[:, None]).cumsum(dim=-2)
        place, found = self.find(values[:, :, None], slice(None))
        counts = memory.counts.scatter_add(-1, place, found.to(memory.counts.dtype))
        last = lengths[..., None] + torch.arange(orders - 1, device=units.device)
        return Counted(counts, read.gather(-1, last), memory.length + lengths)

    def matches(self, memory: Counted) -> Int[Tensor, "batch k refs orders ends"]:
        """How many n-grams a hypothesis, followed by each end, has in common with the reference.

        The end matches its own place in the reference. Of each n-gram that the hypothesis has q
        times, the first q match that come before the end. One that reaches into the end matches
        the next after those, if that also comes before the end.
        """
        k, orders = memory.length.shape[1], self.sorted.shape[2]
        q = memory.counts.gather(-1, self.kind[:, None].expand_as(memory.counts))
        before = (self.rank[:, None] < q).cumsum(dim=-1, dtype=torch.int32)
        starts = self.starts[:, None, :, None].expand(-1, k, -1, orders, -1)
        matches = self.within[:, None] + before.gather(-1, starts)
        for order in range(1, orders):
            matches[..., order, :] += self._crossing(memory, order)
        return matches

    def _crossing(self, memory: Counted, order: int) -> Int[Tensor, "batch k refs ends"]:
        """The matches of n-grams that begin in a hypothesis and reach into an end."""
        power = powers(order + 1, memory.recent.device)
        tails = (memory.recent[..., -order:].flip(-1) * power[:-1]).cumsum(dim=-1)
        begun = (tails * power[1:].flip(0))[:, :, None, :, None]
        values = begun + self.heads[:, None, :, :order].flip(3)
        place, found = self.find(values.flatten(3)[..., None, :], slice(order, order + 1))
        q = memory.counts[..., order, :].gather(-1, place[..., 0, :])
        place, found, q = (field.reshape(values.shape) for field in (place, found, q))
        following = place + q
        for window in range(1, order):
            equal = (place[..., :window, :] == place[..., window, None, :]) & found[..., :window, :]
            following[..., window, :] += equal.sum(dim=-2)
        following = following.clamp(max=self.places.shape[-1] - 1).flatten(3)
        places = self.places[:, None, :, order].expand(-1, values.shape[1], -1, -1)
        position = places.gather(-1, following).view(values.shape) - place * FAR
        hit = found & (position >= 0) & (position < self.starts[:, None, :, None])
        return hit.sum(dim=-2, dtype=torch.int32)


def tables_of(
    references: References,
    spelling: Int[Tensor, "spellings longest"],
    lengths: Int[Tensor, " spellings"],
    orders: int,
) -> NgramTables:
    """Number and sort the n-grams of all references; the last spelling is for `UNSEEN` tokens."""
    rows = references.tokens.masked_fill(references.tokens == UNSEEN, len(lengths) - 1).clamp(min=0)
    starts = pad(lengths[rows].cumsum(dim=-1), (1, 0))
    units = _concatenated(spelling[rows], starts, orders)
    windows = units.unfold(-1, units.shape[-1] - orders + 1, 1)
    numbers = [windows[..., 0, :]]
    for order in range(1, orders):
        numbers.append(numbers[-1] * BASE + windows[..., order, :])
    values = torch.stack(numbers, dim=2)
    whole = (windows >= FIRST).cummin(dim=2).values
    ordered, position = values.masked_fill(~whole, NO_NGRAM).sort(dim=-1, stable=True)
    first = torch.searchsorted(ordered, ordered)
    # No n-gram begins at the last position: it comes first, and each other one is moved by one.
    slot = position.argsort(dim=-1).roll(1, dims=-1)
    kind = first.gather(-1, slot)
    ends = starts[:, :, None].expand(-1, -1, orders, -1)
    tokens = references.lengths[..., None] - torch.arange(starts.shape[-1], device=starts.device)
    return NgramTables(
        sorted=ordered,
        places=first * FAR + position,
        kind=kind,
        rank=slot - kind,
        tokens=tokens.masked_fill(~references.there[..., None], -1),
        starts=starts,
        heads=values.gather(-1, ends)[:, :, :-1],
        within=whole.flip(-1).cumsum(dim=-1, dtype=torch.int32).flip(-1).gather(-1, ends),
        length=starts[..., -1],
    )


def _concatenated(
    spelled: Int[Tensor, "batch refs tokens longest"],
    starts: Int[Tensor, "batch refs ends"],
    orders: int,
) -> Int[Tensor, "batch refs units"]:
    """The units of all tokens in a row, and `orders` times `NOTHING` after the longest."""
    longest, size = spelled.shape[-1], int(starts.max())
    units = spelled.new_full((*starts.shape[:2], size + max(longest, orders)), NOTHING)
    places = starts[..., :-1, None] + torch.arange(longest, device=starts.device)
    units.scatter_add_(-1, places.flatten(2), spelled.flatten(2))
    return units[..., : size + orders]


def powers(count: int, device: torch.device) -> Int[Tensor, " count"]:
    """BASE to the power of 0, 1, ..., count - 1."""
    return pad(torch.full((count - 1,), BASE, device=device).cumprod(dim=0), (1, 0), value=1)
