"""Hypotheses that may run on or end, with the way that led to each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .ranking import top


@dataclass(frozen=True)
class Candidates:
    """Some hypotheses of each example, with the slot and action that led to each."""

    scores: Float[Tensor, "batch m"]
    there: Bool[Tensor, "batch m"]
    """Which slots hold a hypothesis; the scores of the others are zero."""
    slots: Int[Tensor, "batch m"]
    actions: Int[Tensor, "batch m"]
    stays: Bool[Tensor, "batch m"]
    """Which slots take no action: what had ended before, and what is not there."""
    ends: Bool[Tensor, "batch m"]

    @classmethod
    def empty(cls, like: Float[Tensor, "batch slots"], width: int) -> "Candidates":
        """`width` slots that hold nothing."""
        zeros = like.new_zeros(like.shape[0], width)
        nowhere, nothing = zeros.long(), zeros.bool()
        return cls(zeros, nothing, nowhere, nowhere, ~nothing, nothing)

    def each(self, function: Callable[..., Tensor], *others: "Candidates") -> "Candidates":
        """Apply a function to every field, together with that field of others."""
        together = zip(*map(_fields, (self, *others)), strict=True)
        return Candidates(*(function(*fields) for fields in together))

    def keep(self, rows: Bool[Tensor, " batch"] | slice) -> "Candidates":
        """Some of the examples."""
        return self.each(lambda field: field[rows])

    def only(self, chosen: Bool[Tensor, "batch m"]) -> "Candidates":
        """Empty the slots that were not chosen."""
        there = self.there & chosen
        scores, stays = self.scores.masked_fill(~there, 0.0), self.stays | ~there
        return Candidates(scores, there, self.slots, self.actions, stays, self.ends & there)

    def ending(self, also: Bool[Tensor, "batch m"]) -> "Candidates":
        """Some more of them end."""
        return replace(self, ends=self.ends | also & self.there)

    def join(self, other: "Candidates") -> "Candidates":
        """These slots, then those of another."""
        return self.each(lambda one, two: torch.cat([one, two], dim=-1), other)

    def best(self, k: int) -> "Candidates":
        """The k best, ties in favor of the first."""
        _, place = top(self.scores.masked_fill(~self.there, -torch.inf), k)
        return self.each(lambda field: field.gather(-1, place))

    def staying(self, at: int) -> "Candidates":
        """The same one step later, in a record of steps that keeps them from slot `at` on."""
        place = torch.arange(at, at + self.slots.shape[1], device=self.slots.device)
        stays = torch.ones_like(self.stays)
        return Candidates(
            self.scores, self.there, place.expand_as(self.slots), self.actions, stays, self.ends
        )


def _fields(slots: Candidates) -> tuple[Tensor, ...]:
    return slots.scores, slots.there, slots.slots, slots.actions, slots.stays, slots.ends
