"""Scores and costs over A_b, with the two orders of them that losses are written in."""

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

Best = Literal["first", "best_scored"]
"""Which of the cheapest neighbors is star(1): the first, or the one with the best score."""
Rival = Literal["last", "outside"]
"""Whom star(1) is compared with: hat(k), or the best-scored one that star(1) keeps out."""


class Ranked:
    """Scores and costs of A_b with their two orders; what is not a neighbor holds zeros."""

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
        self.given, self.dear = scores, self.fill(costs, torch.inf)
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
        return self.fill(self.given, 0.0)

    @cached_property
    def costs(self) -> Scores:
        """Costs less the least, before they are rounded to the scores' type: in their order."""
        return self.fill(self.dear - self.dear.amin(dim=-1, keepdim=True), 0.0)

    @cached_property
    def c(self) -> Scores:
        """The same in the type of the scores."""
        return self.costs.to(self.given.dtype)

    @cached_property
    def n(self) -> Int[Tensor, " batch"]:
        """How many neighbors there are."""
        if self.dense:
            return torch.full_like(self.k, self.given.shape[1])
        return self.mask.sum(dim=-1)

    @cached_property
    def some(self) -> Bool[Tensor, " batch"]:
        """Are there any?"""
        return self.n > 0

    @cached_property
    def crowded(self) -> Bool[Tensor, " batch"]:
        """Can anything fall out of the beam?"""
        return self.n > self.k

    @cached_property
    def star(self) -> Int[Tensor, "batch 1"]:
        """Where the cheapest neighbor stands."""
        if self.best == "first":
            return least(self.dear)
        cheap = self.mask & (self.costs == 0)
        return least((-self.s.detach()).masked_fill(~cheap, torch.inf))

    @cached_property
    def s_star(self) -> Float[Tensor, "batch 1"]:
        """s[star(1)]."""
        return self.given.gather(-1, self.star).where(self.some[:, None], 0.0)

    @cached_property
    def c_star(self) -> Float[Tensor, "batch 1"]:
        """c[star(1)]."""
        return self.c.gather(-1, self.star)

    @cached_property
    def is_star(self) -> Bool[Tensor, "batch n"]:
        """Which neighbor is star(1)."""
        return torch.zeros_like(self.mask).scatter(-1, self.star, True) & self.mask

    def hat(self, among: Bool[Tensor, "batch n"]) -> Int[Tensor, "batch k"]:
        """The first entries of `hat`, as far as the widest beam goes."""
        given = self.given.detach()
        if not (self.dense and among is self.mask):
            given = torch.where(among, given, -torch.inf)
        return top(given, self.widest)[1]

    @cached_property
    def beam(self) -> tuple[Int[Tensor, "batch k"], Bool[Tensor, "batch k"]]:
        """The neighbors in the beam, hat(1), ..., hat(min(k, n)), and which entries these are."""
        place = torch.arange(self.widest, device=self.given.device)
        return self.hat(self.mask), place < torch.minimum(self.k, self.n)[:, None]

    def in_beam(self, field: Scores) -> Float[Tensor, "batch k"]:
        """What the neighbors in the beam have; the lowest number where there are fewer."""
        index, inside = self.beam
        return field.gather(-1, index).masked_fill(~inside, torch.finfo(field.dtype).min)

    def kept(self) -> Bool[Tensor, "batch n"]:
        """Which neighbors are in the beam."""
        index, inside = self.beam
        return torch.zeros_like(self.mask).scatter(-1, index, inside)

    def rival(self, k: Int[Tensor, " batch"]) -> Int[Tensor, "batch 1"]:
        """The k-th best-scored of all but star(1): hat(k), or hat(k + 1) if star(1) is kept."""
        return self._at(self.hat(self.mask & ~self.is_star), k)

    def last(self, rival: Rival) -> Int[Tensor, "batch 1"]:
        """The neighbor that star(1) is compared with."""
        check_choice(rival, get_args(Rival), "rival")
        return self.rival(self.k) if rival == "outside" else self._at(self.hat(self.mask), self.k)

    def _at(
        self, order: Int[Tensor, "batch k"], k: Int[Tensor, " batch"]
    ) -> Int[Tensor, "batch 1"]:
        return order.gather(-1, (k.clamp(max=order.shape[1]) - 1)[:, None])

    def push_apart(self, rival: Int[Tensor, "batch 1"], can: Bool[Tensor, " batch"]) -> Losses:
        """max(0, s[rival] - s[star(1)]), with the gradient of its active side at a tie."""
        ahead = (self.s.gather(-1, rival) - self.s_star)[:, 0]
        return ahead.where(can & (ahead >= 0), 0.0)

    def margin(self, rival: Int[Tensor, "batch 1"]) -> Losses:
        """max(0, 1 + s[rival] - s[star(1)])."""
        return (1 + self.s.gather(-1, rival) - self.s_star)[:, 0].relu()

    def dearer(self, rival: Int[Tensor, "batch 1"]) -> Losses:
        """c[rival] - c[star(1)]."""
        return (self.c.gather(-1, rival) - self.c_star)[:, 0]

    def log_share(self) -> Losses:
        """s[star(1)] - log sum exp of all s, at once; 0 for a row without neighbors."""
        given = self.given
        if not self.dense:
            nothing = given.new_zeros(len(given)).masked_fill(self.some, -torch.inf)
            given = torch.where(self.mask, given, nothing[:, None])
        share = cross_entropy(given, self.star[:, 0], reduction="none")
        return -share.where(self.some, 0.0)

    def by_cost(self) -> tuple[Scores, Scores, Bool[Tensor, "batch n"]]:
        """Scores, costs and mask in the order `star`."""
        star = by_cost(self.costs, self.mask)
        return self.s.gather(-1, star), self.c.gather(-1, star), self.mask.gather(-1, star)

    def first_k(self) -> Bool[Tensor, "batch n"]:
        """Which places in the order `star` ought to be in the beam."""
        return torch.arange(self.s.shape[1], device=self.s.device) < self.k[:, None]

    def place_by_cost(self) -> Int[Tensor, "batch n"]:
        """At which place, from 0 on, `star` puts each neighbor."""
        star = by_cost(self.costs, self.mask)
        places = torch.arange(star.shape[1], device=star.device).expand_as(star)
        return torch.empty_like(star).scatter_(-1, star, places)


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
