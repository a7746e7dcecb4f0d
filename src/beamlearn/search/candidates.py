"""Hypotheses that may run on or end, with the way that led to each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .beam import Beam, Step
from .check_tensors import check_best_scores
from .neighbors import Neighbors
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

    @classmethod
    def among(
        cls,
        beam: Beam,
        neighbors: Neighbors,
        kept: Bool[Tensor, "batch m"],
        index: Int[Tensor, "batch m"],
    ) -> "Candidates":
        """Some neighbors of a beam, by index; those that are not `kept` are not there."""
        entries = neighbors.look_up(index)
        stays = torch.zeros_like(kept)
        if neighbors.ragged:
            stays = beam.finished.gather(-1, entries.slots)  # an initial node that is terminal
        fields = (entries.scores, kept, entries.slots, entries.actions, stays, entries.terminal)
        return cls(*fields) if bool(kept.all()) else cls(*fields).only(kept)

    def step(self, beam: Beam, ended: Bool[Tensor, " batch"]) -> Step:
        """The transition to them; the search of some examples ends there."""
        return Step(
            examples=beam.examples,
            slots=self.slots,
            actions=self.actions,
            scores=self.scores,
            ranked=self.there,
            kept=self.there,
            finished=self.ends,
            stays=self.stays,
            ended=ended,
            some_ended=bool(ended.any()),
            stopped=torch.zeros_like(ended),
        )

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


def check_first(
    best: Candidates, beam: Beam, neighbors: Neighbors, pool: Candidates | None = None
) -> None:
    """Complain about scores that cannot be ranked, and where there is no output at all.

    A beam that has no neighbors is an error, unless something ended before, in the `pool`.
    """
    if isfinite(float(best.scores[:, 0].where(best.there[:, 0], torch.inf).sum())):
        return  # one number to look at
    index = best.slots[:, :1] * neighbors.actions + best.actions[:, :1]
    first = neighbors.look_up(index).scores[:, 0]
    first = first.masked_fill(first.isfinite() & ~best.there[:, 0], -torch.inf)
    if pool is not None:
        first = first.masked_fill((first == -torch.inf) & pool.there[:, 0], 0.0)
    check_best_scores(first, beam.examples)


def final_lists(
    found: Sequence[tuple[Int[Tensor, " _"], Candidates]],
) -> tuple[Float[Tensor, "batch k"], Bool[Tensor, "batch k"]]:
    """Collect the pools in the order of the examples."""
    order = torch.cat([examples for examples, _ in found]).argsort()
    scores = torch.cat([pool.scores for _, pool in found])
    return scores[order], torch.cat([pool.there for _, pool in found])[order]
