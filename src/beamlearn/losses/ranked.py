"""Scores and costs over A_b, in the notation of the losses: s, c, k, n, hat and star."""

from functools import cached_property
from math import isfinite
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from ..check import check_choice, check_width
from ..search.ranking import by_cost, least, top

Scores = Float[Tensor, "batch n"]
Width = int | Int[Tensor, " batch"]
Mask = Bool[Tensor, "batch n"] | None
Losses = Float[Tensor, " batch"]

Best = Literal["first", "best_scored", "all"]
"""What star(1) is where several neighbors are cheapest: the first of them, the best-scored, or
all of them together."""
Rival = Literal["last", "outside"]
"""What star(1) is compared with: hat(k), or the best-scored neighbor that star(1) keeps out."""


class Ranked:
    """Scores and costs of A_b with their two orders; entries that are not neighbors hold zeros."""

    def __init__(
        self, scores: Scores, costs: Scores, width: Width, mask: Mask, best: Best = "first"
    ) -> None:
        _check(scores, costs, width, mask)
        check_choice(best, get_args(Best), "choice of the best neighbor")
        if scores.shape[1] == 0:
            scores, costs, mask = (pad(field, (0, 1)) for field in (scores, costs, scores.bool()))
        everywhere = torch.ones((), dtype=torch.bool, device=scores.device)
        self.mask = everywhere.expand_as(scores) if mask is None else mask
        self.dense = mask is None
        costs = costs if costs.is_floating_point() else costs.to(scores.dtype)
        self.raw_scores, self.filled_costs = scores, self.fill(costs, torch.inf)
        _check_finite("Scores", scores, self.mask)
        _check_finite("Costs", costs, self.mask)
        self.k = torch.as_tensor(width, device=scores.device).expand(scores.shape[0])
        self.widest = min(scores.shape[1], int(self.k.max()) if self.k.numel() else 1)
        self.best = best

    def fill(self, field: Scores, value: float) -> Scores:
        """Put `value` where there is no neighbor."""
        return field if self.dense else torch.where(self.mask, field, value)

    @cached_property
    def s(self) -> Scores:
        """Scores."""
        return self.fill(self.raw_scores, 0.0)

    @cached_property
    def costs(self) -> Scores:
        """Costs less the least, before they are rounded to the scores' type: in their order."""
        return self.fill(self.filled_costs - self.filled_costs.amin(dim=-1, keepdim=True), 0.0)

    @cached_property
    def c(self) -> Scores:
        """The same in the type of the scores."""
        return self.costs.to(self.raw_scores.dtype)

    @cached_property
    def n(self) -> Int[Tensor, " batch"]:
        """How many neighbors there are."""
        if self.dense:
            return torch.full_like(self.k, self.raw_scores.shape[1])
        return self.mask.sum(dim=-1)

    @cached_property
    def has_neighbors(self) -> Bool[Tensor, " batch"]:
        """Is there any neighbor?"""
        return self.n > 0

    @cached_property
    def can_drop(self) -> Bool[Tensor, " batch"]:
        """Are there more neighbors than slots, so that some fall out of the beam?"""
        return self.n > self.k

    @cached_property
    def cheapest(self) -> Bool[Tensor, "batch n"]:
        """Which neighbors no other is cheaper than."""
        least_costly = self.filled_costs == self.filled_costs.amin(dim=-1, keepdim=True)
        return least_costly if self.dense else self.mask & least_costly

    @cached_property
    def any_costlier(self) -> Bool[Tensor, " batch"]:
        """Is there anything to learn: a neighbor that costs more than another?"""
        return self.cheapest.sum(dim=-1) < self.n

    @cached_property
    def star(self) -> Int[Tensor, "batch 1"]:
        """Where the cheapest neighbor stands; of all together, the best-scored."""
        if self.best == "first":
            return least(self.filled_costs)
        return least((-self.s.detach()).masked_fill(~self.cheapest, torch.inf))

    @cached_property
    def s_star(self) -> Float[Tensor, "batch 1"]:
        """s[star(1)]."""
        return self.raw_scores.gather(-1, self.star).where(self.has_neighbors[:, None], 0.0)

    @cached_property
    def log_mass_of_star(self) -> Losses:
        """log of the sum of exp(s) over star(1): its score, unless it is several neighbors."""
        if self.best != "all":
            return self.s_star[:, 0]
        return log_sum_exp(self.raw_scores, self.cheapest)

    @cached_property
    def c_star(self) -> Float[Tensor, "batch 1"]:
        """c[star(1)]."""
        return self.c.gather(-1, self.star)

    def s_at(self, index: Int[Tensor, "batch i"]) -> Float[Tensor, "batch i"]:
        """s[index]."""
        return self.s.gather(-1, index)

    def c_at(self, index: Int[Tensor, "batch i"]) -> Float[Tensor, "batch i"]:
        """c[index]."""
        return self.c.gather(-1, index)

    @cached_property
    def is_star(self) -> Bool[Tensor, "batch n"]:
        """Which neighbor is star(1)."""
        return torch.zeros_like(self.mask).scatter(-1, self.star, True) & self.mask

    def hat(self, among: Bool[Tensor, "batch n"]) -> Int[Tensor, "batch k"]:
        """The first entries of `hat`, as far as the widest beam goes."""
        scores = self.raw_scores.detach()
        if not (self.dense and among is self.mask):
            scores = torch.where(among, scores, -torch.inf)
        return top(scores, self.widest)[1]

    @cached_property
    def beam(self) -> tuple[Int[Tensor, "batch k"], Bool[Tensor, "batch k"]]:
        """The neighbors in the beam, hat(1), ..., hat(min(k, n)), and which entries these are."""
        place = torch.arange(self.widest, device=self.raw_scores.device)
        return self.hat(self.mask), place < torch.minimum(self.k, self.n)[:, None]

    @cached_property
    def beam_and_star(self) -> tuple[Int[Tensor, "batch i"], Bool[Tensor, "batch i"]]:
        """{star(1), hat(1), ..., hat(min(k, n))}, each once, and which entries these are."""
        if self.best == "all":
            everywhere = torch.arange(self.s.shape[1], device=self.s.device).expand_as(self.s)
            return everywhere, self.kept() | self.cheapest
        index, inside = self.beam
        outside = ~((index == self.star) & inside).any(dim=-1, keepdim=True)
        return torch.cat([index, self.star], dim=-1), torch.cat([inside, outside], dim=-1)

    def kept(self) -> Bool[Tensor, "batch n"]:
        """Which neighbors are in the beam."""
        index, inside = self.beam
        return torch.zeros_like(self.mask).scatter(-1, index, inside)

    def hat_beside_star(self, k: Int[Tensor, " batch"]) -> Int[Tensor, "batch 1"]:
        """The k-th best-scored of all but star(1): hat(k), or hat(k + 1) if star(1) is kept."""
        return self._at(self.hat(self.mask & ~self.is_star), k)

    def hat_k(self, rival: Rival) -> Int[Tensor, "batch 1"]:
        """hat(k), or with "outside" the best-scored neighbor that star(1) keeps out."""
        check_choice(rival, get_args(Rival), "rival")
        if rival == "outside":
            return self.hat_beside_star(self.k)
        return self._at(self.hat(self.mask), self.k)

    def _at(
        self, order: Int[Tensor, "batch k"], k: Int[Tensor, " batch"]
    ) -> Int[Tensor, "batch 1"]:
        return order.gather(-1, (k.clamp(max=order.shape[1]) - 1)[:, None])

    def cross_entropy(self) -> Losses:
        """-s[star(1)] + log sum exp of all s, in one step; 0 for a row without neighbors.

        Where star(1) is several neighbors, one of them is taken, and the others are counted in:

            -log sum_{cheapest i} exp(s[i]) + ... = -s[star] + ... - log sum exp(s[i] - s[star])
        """
        if self.best == "all":
            one = self.one_cross_entropy() - (self.log_mass_of_star - self.s_star[:, 0])
            return one.clamp(min=0.0).where(self.any_costlier, 0.0)
        return self.one_cross_entropy()

    def one_cross_entropy(self) -> Losses:
        """The same with a single neighbor for star(1)."""
        scores = self.raw_scores
        if not self.dense:
            nothing = scores.new_zeros(len(scores)).masked_fill(self.has_neighbors, -torch.inf)
            scores = torch.where(self.mask, scores, nothing[:, None])
        entropy = cross_entropy(scores, self.star[:, 0], reduction="none")
        return entropy.where(self.has_neighbors, 0.0)

    def by_cost(self) -> tuple[Scores, Scores, Bool[Tensor, "batch n"]]:
        """s[star(1)], ..., s[star(n)], and the same for c and the mask."""
        star = by_cost(self.costs, self.mask)
        return self.s.gather(-1, star), self.c.gather(-1, star), self.mask.gather(-1, star)

    @cached_property
    def first_k(self) -> Bool[Tensor, "batch n"]:
        """Which places in the order `star` are star(1), ..., star(k)."""
        return torch.arange(self.s.shape[1], device=self.s.device) < self.k[:, None]

    def place_by_cost(self) -> Int[Tensor, "batch n"]:
        """At which place, from 0 on, `star` puts each neighbor."""
        star = by_cost(self.costs, self.mask)
        places = torch.arange(star.shape[1], device=star.device).expand_as(star)
        return torch.empty_like(star).scatter_(-1, star, places)


def rank_merged(scores: Scores, costs: Scores, width: Width, mask: Mask, best: Best) -> Ranked:
    """Scores and costs in which, with best="all", the cheapest neighbors count as one.

    The best-scored of them stands for all, and the others are left out of A_b. So star(1) drops
    only if all of them do, and it is compared with costlier neighbors alone.
    """
    beam = Ranked(scores, costs, width, mask, best)
    if best != "all":
        return beam
    merged = beam.mask & (beam.is_star | ~beam.cheapest)
    return Ranked(scores, costs, width, merged, "best_scored")


def positive_part(
    difference: Float[Tensor, "batch 1"], can: Bool[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """max(0, difference), with the gradient of the positive side at 0; 0 where it `can` not be."""
    value = difference[:, 0]
    return value.where(can & (value >= 0), 0.0)


def log_sum_exp(
    values: Float[Tensor, "batch i"], there: Bool[Tensor, "batch i"]
) -> Float[Tensor, " batch"]:
    """log of the sum of exp(values) over the entries that are `there`; finite if there is none.

    Terms are added one after another, and only those that are there: mostly a few of many.
    `torch.logsumexp` adds them in an order that depends on their number, so the last digit would
    depend on the padding: on the rest of the batch.
    """
    rows, places = there.nonzero(as_tuple=True)
    some = values[rows, places]
    lowest = torch.finfo(values.dtype).min
    largest = torch.full_like(values[:, 0], lowest).detach()
    largest = largest.scatter_reduce(0, rows, some.detach(), "amax")
    terms = (some - largest[rows]).double().exp()
    sums = torch.zeros_like(largest, dtype=torch.float64).index_add(0, rows, terms)
    return sums.where(sums > 0, 1.0).log().to(values.dtype) + largest


def _check(scores: Tensor, costs: Tensor, width: Width, mask: Mask) -> None:
    """Refuse arguments that do not fit together."""
    if scores.ndim != 2 or scores.shape != costs.shape:
        raise ValueError(
            "`scores` and `costs` must have the same shape, batch x neighbors, got "
            f"{tuple(scores.shape)} and {tuple(costs.shape)}; flatten slots and actions."
        )
    if mask is not None and mask.shape != scores.shape:
        raise ValueError(
            f"`mask` must have the shape of `scores`, {tuple(scores.shape)}, got "
            f"{tuple(mask.shape)}."
        )
    if not scores.is_floating_point():
        raise ValueError(
            f"`scores` must be floating-point numbers, got {scores.dtype}; convert them with "
            "`.float()`."
        )
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(f"`mask` must be boolean, got {mask.dtype}; convert it with `.bool()`.")
    if not isinstance(width, Tensor):
        check_width(width)
    elif (
        width.is_floating_point()
        or width.shape not in (scores.shape[:1], ())
        or bool((width < 1).any())
    ):
        raise ValueError(
            f"`width` must be a whole number or one per row, all at least 1, got {width} for "
            f"{scores.shape[0]} rows."
        )


def _check_finite(name: str, values: Tensor, mask: Tensor) -> None:
    finite = isfinite(float(values.detach().sum()))  # or a sum that overflowed, or junk outside
    if not finite and not bool((torch.isfinite(values) | ~mask).all()):
        raise ValueError(
            f"{name} must be finite, got NaN or an infinity; mask out entries that are not "
            "neighbors, and look for an overflow where the others were computed."
        )
