"""Gradient: of the mean loss of a batch, or of the share that a part of it has."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..losses import AnyLoss
from ..search.scorer import Scorer
from .incurred import Incurred
from .not_finite import bad_gradient


@dataclass(frozen=True)
class Gradient:
    """Computes the gradients of a round, and leaves them in the parameters of the optimizer."""

    incur: Callable[[Any], Incurred]
    """Collects the trajectories of some examples."""
    scorer: Scorer
    optimizer: torch.optim.Optimizer
    loss: AnyLoss

    @cached_property
    def parameters(self) -> list[Tensor]:
        """All that the optimizer updates."""
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def of(
        self, examples: Any, *, batch: int | None = None, clip: float | None = None
    ) -> tuple[Incurred, float]:
        """Differentiate the losses of the examples, as a part of a `batch` of so many.

        The norm of the gradient, before it is clipped, is returned, too. A number that is not
        finite is an error that names it.
        """
        incurred = self.incur(examples)
        self.optimizer.zero_grad()
        value = differentiate(incurred.total, incurred.owners if batch is None else batch)
        norm = clip_gradient(self.parameters, clip)
        if not isfinite(value + norm):
            alone = self._alone(examples)
            raise incurred.bad_loss(self.loss) or bad_gradient(self.scorer, self.parameters, alone)
        return incurred, norm

    def _alone(self, examples: Any) -> Iterator[Float[Tensor, " one"]]:
        """The losses of the examples one by one, incurred again."""
        each = [[example] for example in examples] if isinstance(examples, Sequence) else []
        return (self.incur(example).total for example in each)


def differentiate(losses: Float[Tensor, " some"], batch: int) -> float:
    """Compute the gradient of the losses over the size of their batch; return that quotient."""
    check_differentiable(losses)
    share = losses.sum() / batch
    share.backward()
    return float(share.detach())


def check_differentiable(losses: Float[Tensor, " batch"]) -> None:
    """Refuse losses that no update can be computed from."""
    check_some(len(losses))
    if not losses.requires_grad:
        raise ValueError(
            "`scorer` must compute scores that depend on its parameters, got scores without a "
            "gradient; use parameters that require one, outside `torch.no_grad()`."
        )


def check_some(examples: int) -> None:
    """Refuse a batch without examples."""
    if examples == 0:
        raise ValueError("Each batch must hold at least one example, got an empty batch.")


def clip_gradient(parameters: Sequence[Tensor], clip: float | None) -> float:
    """The norm of all gradients together, before they are clipped to `clip` if it is given.

    If it is not finite, they stay as they are.
    """
    if clip is not None:
        with suppress(RuntimeError):  # what is not finite is left for the norm below to show
            return float(nn.utils.clip_grad_norm_(parameters, clip, error_if_nonfinite=True))
    norms = [p.grad.norm() for p in parameters if p.grad is not None]
    return float(torch.stack(norms).norm()) if norms else 0.0
