"""Online learning: optimizers whose regret is bounded, and the bounds.

Both are deterministic functions of the gradients g_1, ..., g_t of the losses so far, as Theorem 1
requires. For convex losses, the average regret gamma_m falls as fast as 1 / sqrt(m).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any, final, overload

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer, ParamsT


class OnlineOptimizer(Optimizer, ABC):
    """A step in every parameter at the rate lr / sqrt(t), then one projection of them all.

    The ball of the projection is centered at zero. The weights should start inside it.
    """

    def __init__(self, params: ParamsT, lr: float = 1.0, radius: float | None = None) -> None:
        super().__init__(params, {"lr": lr, "radius": radius})
        for group in self.param_groups:
            check_positive("lr", group["lr"])
            if group["radius"] != radius:
                raise ValueError(
                    "`radius` must be the same for all parameters, as it bounds them together, got "
                    f"{group['radius']} for one group; pass it only to the optimizer."
                )
        if radius is not None:
            check_positive("radius", radius)

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Go from theta_t to theta_{t+1}; a parameter without a gradient counts as one of 0."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.tensor(0.0)
                state["step"] += 1
                self._move(parameter, state, group["lr"] / sqrt(state["step"]))
        radius = self.param_groups[0]["radius"]
        if radius is not None:
            project([p for group in self.param_groups for p in group["params"]], radius)
        return loss

    @abstractmethod
    def _move(self, parameter: Tensor, state: dict[str, Any], rate: float) -> None:
        """Update one parameter in place, before the projection."""

    @staticmethod
    @abstractmethod
    def regret_bound(rounds: int, *, lr: float, radius: float, gradient_bound: float) -> float:
        """The largest average regret after `rounds` rounds of convex losses."""


@final
class ProjectedGradient(OnlineOptimizer):
    """Online gradient descent (Zinkevich 2003).

    theta_{t+1} = Pi(theta_t - lr / sqrt(t) g_t)

    Pi projects all parameters together onto the ball of `radius` around zero; with None it does
    nothing.

    >>> import torch
    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> optimizer = ProjectedGradient([weight], lr=1.0, radius=5.0)
    >>> weight.grad = torch.tensor([-6.0, -8.0])
    >>> optimizer.step()
    >>> weight.tolist()
    [3.0, 4.0]
    """

    def _move(self, parameter: Tensor, state: dict[str, Any], rate: float) -> None:
        if parameter.grad is not None:
            parameter.add_(parameter.grad, alpha=-rate)

    @staticmethod
    def regret_bound(rounds: int, *, lr: float, radius: float, gradient_bound: float) -> float:
        """The largest average regret after m rounds, if |g_t| <= G and every loss is convex.

        gamma_m <= ((2 R)^2 / (2 eta_m) + G^2 / 2 (eta_1 + ... + eta_m)) / m, eta_t = lr / sqrt(t)

        Zinkevich (2003), Theorem 1; 2 R is the diameter of the ball.

        >>> ProjectedGradient.regret_bound(1, lr=1.0, radius=1.0, gradient_bound=2.0)
        4.0
        """
        rates = _rates(rounds, lr, radius)
        return (_distance(radius, rates[-1]) + _drift(gradient_bound, rates)) / rounds


@final
class FollowTheLeader(OnlineOptimizer):
    """Follow the leader, regularized by the distance from the first weights.

    theta_{t+1} = Pi(theta_1 - lr / sqrt(t) (g_1 + ... + g_t))
                = argmin over |theta| <= R of (g_1 + ... + g_t) . theta
                  + sqrt(t) / (2 lr) |theta - theta_1|^2

    Pi as for `ProjectedGradient`. It keeps the first weights and the sum of the gradients.

    >>> import torch
    >>> weight = torch.nn.Parameter(torch.zeros(1))
    >>> optimizer = FollowTheLeader([weight], lr=1.0)
    >>> for gradient in (2.0, 1.0, 0.0, 1.0):
    ...     weight.grad = torch.tensor([gradient])
    ...     optimizer.step()
    >>> weight.tolist()
    [-2.0]
    """

    def _move(self, parameter: Tensor, state: dict[str, Any], rate: float) -> None:
        if "first" not in state:
            state["first"], state["total"] = parameter.clone(), torch.zeros_like(parameter)
        if parameter.grad is not None:
            state["total"] += parameter.grad
        parameter.copy_(state["first"]).add_(state["total"], alpha=-rate)

    @staticmethod
    def regret_bound(rounds: int, *, lr: float, radius: float, gradient_bound: float) -> float:
        """The largest average regret after m rounds, if |g_t| <= G and every loss is convex.

        gamma_m <= ((2 R)^2 / (2 eta_{m-1}) + G^2 / 2 (eta_0 + ... + eta_{m-1})) / m
        eta_t = lr / sqrt(t), eta_0 = lr

        McMahan (2017), "A survey of algorithms and analysis for adaptive online learning",
        Theorem 1: eta_{t-1} is the rate that theta_t was chosen with.

        >>> FollowTheLeader.regret_bound(1, lr=1.0, radius=1.0, gradient_bound=2.0)
        4.0
        """
        rates = [lr, *_rates(rounds, lr, radius)][:rounds]
        return (_distance(radius, rates[-1]) + _drift(gradient_bound, rates)) / rounds


@torch.no_grad()
def project(weights: Sequence[Tensor], radius: float) -> None:
    """Pi: move all weights together to the nearest point in the ball of `radius` around zero."""
    norm = float(torch.stack([weight.norm() for weight in weights]).norm())
    if norm > radius:
        for weight in weights:
            weight.mul_(radius / norm)


def _rates(rounds: int, lr: float, radius: float) -> list[float]:
    """eta_1, ..., eta_m."""
    if rounds < 1:
        raise ValueError(
            f"`rounds` must be at least 1, got {rounds}; the average regret needs a round."
        )
    check_positive("lr", lr)
    check_positive("radius", radius)
    return [lr / sqrt(t) for t in range(1, rounds + 1)]


def _distance(radius: float, rate: float) -> float:
    """The cost of starting far from the best weights, up to the diameter of the ball."""
    return (2 * radius) ** 2 / (2 * rate)


def _drift(gradient_bound: float, rates: list[float]) -> float:
    """The cost of learning each loss only after the weights were chosen."""
    return gradient_bound**2 / 2 * sum(rates)


def check_positive(name: str, value: float) -> None:
    """Refuse 0, negative numbers, infinity and NaN."""
    if not (isfinite(value) and value > 0):
        raise ValueError(f"`{name}` must be a number above 0, got {value}.")
