"""What a surrogate loss is, what it declares, and how one is made from another."""

import functools
from collections.abc import Callable
from typing import Any, Literal, Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from .ranked import Losses, Mask, Ranked, Scores, Width

Needs = Literal["costs", "best"]


@runtime_checkable
class Loss(Protocol):
    """A surrogate loss with what a user chooses it by."""

    __name__: str
    convex: bool
    bounds_cost: bool
    needs: Needs
    final: bool

    def __call__(
        self,
        scores: Scores,
        costs: Scores,
        width: Width,
        mask: Mask = None,
        **options: Any,
    ) -> Losses: ...


def surrogate(
    *, convex: bool, bounds_cost: bool, needs: Needs, final: bool = False
) -> Callable[[Callable[..., Tensor]], Loss]:
    """Declare what a loss promises; use it on losses of your own."""

    def declare(function: Callable[..., Tensor]) -> Loss:
        loss = cast(Any, function)
        loss.convex, loss.bounds_cost, loss.needs, loss.final = convex, bounds_cost, needs, final
        return cast(Loss, loss)

    return declare


AnyLoss = Callable[..., Tensor]
"""A loss of the library or a plain function of scores, costs, width and mask."""


def only_on_increase(loss: Loss) -> Loss:
    """Apply `loss` only where the scores lead to a cost increase (Appendix C's l').

    l'(s, c) = l(s, c) * 1[c(b, b') > 0], with b' = {hat(1), ..., hat(k)}

    Not convex, whatever `loss` is; bounds the transition cost if `loss` does.
    """

    @surrogate(convex=False, bounds_cost=loss.bounds_cost, needs=loss.needs, final=loss.final)
    @functools.wraps(loss, updated=())
    def on_increase(
        scores: Scores, costs: Scores, width: Width, mask: Mask = None, **options: Any
    ) -> Losses:
        beam = Ranked(scores, costs, width, mask)
        cheapest = beam.costs.masked_fill(~beam.kept(), torch.inf).amin(dim=-1)
        increased = beam.some & (cheapest > 0)
        return loss(scores, costs, width, mask, **options).where(increased, 0.0)

    on_increase.__name__ = f"only_on_increase({loss.__name__})"
    return on_increase


def with_options(loss: Loss, **options: Any) -> Loss:
    """Fix options of a loss, such as `rival` or `best`, and keep what it declares.

    `best="best_scored"` takes the best-scored of the cheapest neighbors for star(1) instead of
    the first; that depends on the scores, so the loss is no longer convex.
    """
    convex = loss.convex and options.get("best", "first") == "first"

    @surrogate(convex=convex, bounds_cost=loss.bounds_cost, needs=loss.needs, final=loss.final)
    @functools.wraps(loss, updated=())
    def optioned(
        scores: Scores, costs: Scores, width: Width, mask: Mask = None, **more: Any
    ) -> Losses:
        return loss(scores, costs, width, mask, **(options | more))

    settings = ", ".join(f"{name}={value!r}" for name, value in options.items())
    optioned.__name__ = f"{loss.__name__}({settings})"
    return optioned
