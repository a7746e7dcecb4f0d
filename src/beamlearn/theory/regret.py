"""Regret: the mean loss of the iterates against the best policy in hindsight."""

from dataclasses import asdict, dataclass
from math import isclose
from typing import Any

from .numbers import check_finite


@dataclass(frozen=True)
class Regret:
    """The mean loss of the iterates, split in two:  mean_t l_t(theta_t) = epsilon_m + gamma_m.

    epsilon_m is the least mean loss of one policy on the same trajectories, the best in
    hindsight; gamma_m is the average regret against it.
    """

    loss: float
    """The mean loss of the iterates."""
    epsilon_upper: float
    """The mean loss of the best policy that was found."""
    epsilon_lower: float | None = None
    """A proven lower bound on the mean loss of any policy, if there is one."""

    @property
    def certified(self) -> bool:
        """Is there a proven lower bound?"""
        return self.epsilon_lower is not None

    @property
    def gap(self) -> float | None:
        """How far the best policy that was found can be from the best one."""
        return None if self.epsilon_lower is None else self.epsilon_upper - self.epsilon_lower

    @property
    def gamma_lower(self) -> float:
        """The regret against the best policy that was found. Iterates that vary may beat it."""
        return self.loss - self.epsilon_upper

    @property
    def gamma_upper(self) -> float | None:
        """A proven upper bound on the regret, if there is one."""
        return None if self.epsilon_lower is None else self.loss - self.epsilon_lower

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        names = ("gamma_lower", "gamma_upper", "gap", "certified")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}

    def __str__(self) -> str:
        epsilon, gamma = f"{self.epsilon_upper:.4g}", f"{self.gamma_lower:.4g}"
        note = " (estimate: a better policy may exist)"
        if self.epsilon_lower is not None:
            epsilon = f"{self.epsilon_lower:.4g} to {epsilon}"
            gamma = f"{gamma} to {self.gamma_upper:.4g}"
            note = ""
        return (
            f"mean loss {self.loss:.4g} = best policy in hindsight {epsilon} + regret {gamma}{note}"
        )


def regret(
    losses_mean: float, hindsight_value: float, hindsight_lower: float | None = None
) -> Regret:
    """Split the mean loss of the iterates into the loss of the best policy and the regret.

    epsilon_m in [hindsight_lower, hindsight_value],  gamma_m = losses_mean - epsilon_m

    Without a proven lower bound, as for networks, both are estimates.

    >>> print(regret(0.75, 0.5, 0.25))
    mean loss 0.75 = best policy in hindsight 0.25 to 0.5 + regret 0.25 to 0.5
    """
    check_finite(losses_mean, "losses_mean")
    check_finite(hindsight_value, "hindsight_value")
    if hindsight_lower is not None:
        check_finite(hindsight_lower, "hindsight_lower")
        rounded = isclose(hindsight_lower, hindsight_value, rel_tol=1e-6, abs_tol=1e-9)
        if hindsight_lower > hindsight_value and not rounded:
            raise ValueError(
                f"`hindsight_lower` must not exceed `hindsight_value` = {hindsight_value:g}, got "
                f"{hindsight_lower:g}; one of them is not a bound on the least mean loss."
            )
        hindsight_lower = min(hindsight_lower, hindsight_value)
    return Regret(losses_mean, hindsight_value, hindsight_lower)
