"""Loss: a surrogate loss, its declared properties, and losses made from others."""

import functools
from collections.abc import Callable
from inspect import signature
from math import exp, log, log1p
from typing import Any, Literal, Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from .ranked import Losses, Mask, Ranked, Scores, Width

Needs = Literal["costs", "best"]
Largest = Callable[[float, float, int, int], float]
"""(s, c, k, n) -> the largest value of a loss at one beam, whatever its options.

Here scores of two neighbors differ by at most s, and costs by at most c; k is the width, and
there are at most n neighbors.
"""


@runtime_checkable
class Loss(Protocol):
    """A surrogate loss with the properties that `surrogate` declares."""

    __name__: str
    convex: bool
    bounds_cost: bool
    needs: Needs
    final: bool
    local: bool
    sampled: bool
    largest: Largest | None

    def __call__(
        self,
        scores: Scores,
        costs: Scores,
        width: Width,
        mask: Mask = None,
        **options: Any,
    ) -> Losses: ...


def surrogate(
    *,
    convex: bool,
    bounds_cost: bool,
    needs: Needs,
    final: bool = False,
    local: bool = False,
    sampled: bool = False,
    largest: Largest | None = None,
) -> Callable[[Callable[..., Tensor]], Loss]:
    """Declare the properties of a loss; use it on losses of your own.

    - `convex`: is it convex in the scores?
    - `bounds_cost`: is it at least the transition cost that the scores lead to (Theorem 2)?
    - `needs`: "costs" if it reads c* of many neighbors, "best" if it only asks which is cheapest.
    - `final`: is it incurred only at the last transition of a trajectory?
    - `local`: at width 1 with normalized scores, is it the likelihood of single decisions?
    - `sampled`: does it weigh sampled outputs? Then it is `final`, and has an option
      `log_inclusion`: the log-probability that an output is in the sample, -inf where it is not.
    - `largest`: its largest value at one beam, for certificates; None: not known.
    """

    def declare(function: Callable[..., Tensor]) -> Loss:
        loss = cast(Any, function)
        loss.convex, loss.bounds_cost, loss.needs, loss.final = convex, bounds_cost, needs, final
        loss.local, loss.sampled, loss.largest = local, sampled, largest
        return cast(Loss, loss)

    return declare


def log_of_sum(terms: int, difference: float) -> float:
    """log(1 + (terms - 1) e^difference), without overflow: the largest log loss of `terms`."""
    if terms == 1:
        return 0.0
    rest = log(terms - 1) + difference
    return max(0.0, rest) + log1p(exp(-abs(rest)))


AnyLoss = Callable[..., Tensor]
"""A loss of the library or a plain function of scores, costs, width and mask."""


def name_of(loss: AnyLoss) -> str:
    """What a loss is called in messages."""
    return str(getattr(loss, "__name__", repr(loss)))


def check_losses(losses: object, rows: int, loss: AnyLoss) -> None:
    """Refuse anything that a loss returns but one number per row."""
    if not isinstance(losses, Tensor):
        found = type(losses).__name__
    elif tuple(losses.shape) != (rows,):
        found = f"the shape {tuple(losses.shape)}"
    else:
        return
    raise ValueError(
        f"A loss must return a tensor with one number per row, here of shape ({rows},), but "
        f"{name_of(loss)!r} returned {found}; add up over the neighbors with `sum(dim=-1)`."
    )


def only_on_increase(loss: Loss) -> Loss:
    """Apply `loss` only where the scores lead to a cost increase (Appendix C's l').

    l'(s, c) = l(s, c) * 1[c(b, b') > 0], with b' = {hat(1), ..., hat(k)}

    Not convex, whatever `loss` is; bounds the transition cost if `loss` does. Never larger than
    `loss`. Not local, since decisions without an increase are not learned.
    """

    @surrogate(
        convex=False,
        bounds_cost=loss.bounds_cost,
        needs=loss.needs,
        final=loss.final,
        sampled=loss.sampled,
        largest=loss.largest,
    )
    @functools.wraps(loss, updated=())
    def on_increase(
        scores: Scores, costs: Scores, width: Width, mask: Mask = None, **options: Any
    ) -> Losses:
        beam = Ranked(scores, costs, width, mask)
        cheapest = beam.costs.masked_fill(~beam.kept(), torch.inf).amin(dim=-1)
        increased = beam.has_neighbors & (cheapest > 0)
        return loss(scores, costs, width, mask, **options).where(increased, 0.0)

    on_increase.__name__ = f"only_on_increase({loss.__name__})"
    return on_increase


def with_options(loss: Loss, **options: Any) -> Loss:
    """Fix options of a loss, such as `rival` or `best`, and keep its other properties.

    `best="best_scored"` takes the best-scored of the cheapest neighbors for star(1) instead of
    the first, and `best="all"` takes all of them; both depend on the scores, so the loss is no
    longer convex.
    """
    convex = loss.convex and options.get("best", "first") == "first"

    @surrogate(
        convex=convex,
        bounds_cost=loss.bounds_cost,
        needs=loss.needs,
        final=loss.final,
        local=loss.local,
        sampled=loss.sampled,
        largest=loss.largest,
    )
    @functools.wraps(loss, updated=())
    def optioned(
        scores: Scores, costs: Scores, width: Width, mask: Mask = None, **more: Any
    ) -> Losses:
        return loss(scores, costs, width, mask, **(options | more))

    settings = ", ".join(f"{name}={value!r}" for name, value in options.items())
    optioned.__name__ = f"{loss.__name__}({settings})"
    return optioned


def with_best(loss: Loss, best: str) -> Loss:
    """The loss with what it takes for best among equals, if it asks for that at all."""
    if best == "first" or "best" not in signature(loss).parameters:
        return loss
    return with_options(loss, best=best)
