"""Which number of a round is not finite; it is looked for only where one was found."""

from collections.abc import Iterable
from math import isfinite

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..search.check_tensors import NotFiniteError, bad_score
from ..search.scorer import Scorer
from .transition import Transition

OVERFLOW = "look for an overflow or a division by zero in"


def bad_neighbor(transitions: Iterable[Transition]) -> NotFiniteError | None:
    """The error for the first score or cost of a neighbor that is not finite, if there is one."""
    for transition in transitions:
        neighbors, examples = transition.neighbors, transition.step.examples
        scores, costs = neighbors.unscaled_scores.detach(), neighbors.unmasked_costs
        if (at := first(neighbors.mask & ~scores.isfinite())) is not None:
            return bad_score(float(scores[at]), int(examples[at[0]]))
        if (at := first(neighbors.mask & ~costs.isfinite())) is not None:
            return NotFiniteError(
                "Costs",
                f"the oracle gave {float(costs[at])} to a neighbor of example "
                f"{int(examples[at[0]])}",
                f"{OVERFLOW} `costs` of the oracle",
            )
    return None


def bad_loss(losses: Float[Tensor, " batch"], name: str) -> NotFiniteError | None:
    """The error for the first loss that is not finite, if there is one."""
    at = first(~losses.isfinite())
    if at is None:
        return None
    return NotFiniteError(
        "Losses",
        f"{name} gave {float(losses.detach()[at])} to example {at[0]}, whose scores and costs are "
        "finite",
        f"{OVERFLOW} {name}",
    )


def bad_gradient(
    scorer: Scorer, parameters: Iterable[Tensor], losses: Iterable[Float[Tensor, " one"]]
) -> NotFiniteError:
    """The error for the first parameter whose gradient is not finite.

    `losses` are those of the examples one by one, incurred again: in a batch the gradient of one
    loss can spoil that of all.
    """
    names = {id(parameter): name for name, parameter in scorer.named_parameters()}
    for number, parameter in enumerate(parameters):
        if (value := _bad_norm(parameter.grad)) is not None:
            name = names.get(id(parameter), f"parameter {number} of the optimizer")
            return NotFiniteError(
                "Gradients",
                f"the gradient of {name} is {value}{_source(parameter, losses)}, though the losses "
                "are finite",
                "look for a square root, a logarithm or a division at 0 in the scorer or the loss, "
                "or lower the learning rate",
            )
    return NotFiniteError(
        "Gradients",
        "the norm of all gradients together is not finite, though each of them is",
        "scale the loss down, or lower the learning rate",
    )


def _source(parameter: Tensor, losses: Iterable[Float[Tensor, " one"]]) -> str:
    """The first example whose gradient alone is not finite, in words; nothing if there is none."""
    for example, loss in enumerate(losses):
        (gradient,) = torch.autograd.grad(loss.sum(), [parameter], allow_unused=True)
        if _bad_norm(gradient) is not None:
            return f" from example {example}"
    return ""


def _bad_norm(gradient: Tensor | None) -> float | None:
    """The norm of a gradient if it is not finite."""
    norm = 0.0 if gradient is None else float(gradient.norm())
    return None if isfinite(norm) else norm


def first(bad: Bool[Tensor, "..."]) -> tuple[int, ...] | None:
    """The first place that is marked; None: there is none."""
    places = bad.nonzero()
    return None if len(places) == 0 else tuple(places[0].tolist())
