"""What losses recorded while learning prove about the learned policies, from plain numbers.

`certify` speaks of the uniform mixture of the iterates theta_1, ..., theta_m, `regret` of the
best policy in hindsight beside them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isclose, log, sqrt
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from .certificate import Certificate
from .recorded import (
    Numbers,
    check_delta,
    check_length,
    check_number,
    check_upper,
    losses_within,
    probabilities,
)

Flags = Sequence[bool] | Bool[Tensor, "_"]


def certify(
    losses: Numbers,
    *,
    upper: float,
    delta: float = 0.05,
    on_policy: Flags | None = None,
    alphas: Numbers | None = None,
    explicit: bool = False,
    clip: bool = False,
) -> Certificate:
    """Bound the expected loss of the uniform mixture of the iterates, each on its own beams.

    With probability 1 - `delta`, where l_t is the loss of trajectory t, the sum over
    b_1, ..., b_{h-1} under theta_t, 0 <= l_t <= u = `upper`, and eta = u sqrt(2 log(1/delta) / m),

    - Theorem 3 (continue):  mean(l) + eta
    - Theorem 4 (stop, reset; `on_policy`):  mean(l) + u (1 - mean(on_policy)) + 2 eta
    - Eq. (30) (`alphas`):  mean(l) + u (1 - mean(alphas)) + eta;  Eq. (31) where they are 0 in
      the first rounds and 1 after
    - Theorem 1 (`explicit`):  mean(l), as every l_t is the expectation itself

    Losses must have been incurred before the update on them, on examples seen for the first
    time, in order. Where an update takes several examples, each is an entry: given theta_t they
    are independent, so each is a step of the martingale, and the mixture weighs theta_t by how
    many there were.

    `on_policy` says of each trajectory whether the learned policy alone could have led through
    b_1, ..., b_{h-1} (`Trajectory.on_policy`); `alphas` gives the probability of that where it is
    known (`interpolation_alphas`). With `clip=True` the certificate is about min(loss, u), and u
    may be any number; otherwise a loss above it is refused.

    Paper note: Theorem 4 says that alpha-hat is the frequency of at least one cost increase; its
    proof uses the frequency of none, and only that makes it true (decision 10).

    >>> proof = certify([0.5, 0.0, 1.0, 0.5] * 100, upper=1.0, delta=0.05)
    >>> proof.empirical_loss, round(proof.deviation, 3), round(proof.bound, 3)
    (0.5, 0.122, 0.622)
    >>> certify([0.5, 0.0], upper=1.0, on_policy=[True, False]).roll_in_gap
    0.5
    """
    check_upper(upper, "upper")
    mend = "raise `upper`, or give `clip=True`"
    values = losses_within(losses, inf if clip else upper, "round", mend)
    clipped = int((values > upper).sum())
    m, mean = len(values), float(values.clamp(max=upper).mean())
    given = [
        name for name, came in (("on_policy", on_policy), ("alphas", alphas)) if came is not None
    ]
    if explicit and given:
        raise ValueError(
            f"`explicit` losses are those of the learned policy, but `{given[0]}` came; leave it "
            "out."
        )
    if explicit:
        return Certificate("Theorem 1", mean, 0.0, 0.0, upper, None, m, clip, clipped)
    if len(given) == 2:
        raise ValueError(
            "`on_policy` or `alphas` must be given, but both came; use `alphas` where the "
            "probabilities are known, `on_policy` where they are not."
        )
    check_delta(delta)
    statement, share, etas = "Theorem 3", 1.0, 1
    if on_policy is not None:
        statement, share, etas = "Theorem 4", _share(on_policy, m), 2
    if alphas is not None:
        known = probabilities(alphas, "alphas", m)
        statement = "Equation 31" if _cut_off(known) else "Equation 30"
        share = sum(known) / m
    deviation = etas * upper * sqrt(2 * log(1 / delta) / m)
    gap = upper * (1 - share)
    return Certificate(statement, mean, gap, deviation, upper, delta, m, clip, clipped)


def interpolation_alphas(betas: Numbers, horizon: int) -> list[float]:
    """How probable it is at least that interpolation follows the learned policy to b_{h-1}.

    alpha_t = (1 - beta_t)^(h - 2) for trajectories of at most h = `horizon` beams

    `betas` has an entry for each loss, the probability that a step follows the oracle.

    >>> interpolation_alphas([1.0, 0.5, 0.0], horizon=4)
    [0.0, 0.25, 1.0]
    """
    if horizon < 2:
        raise ValueError(
            f"`horizon` must be at least 2, but {horizon} came; count the beams of the longest "
            "trajectory, the initial one among them."
        )
    return [(1 - beta) ** (horizon - 2) for beta in probabilities(betas, "betas")]


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
    """What no policy can be better than, where that is proven."""

    @property
    def certified(self) -> bool:
        """Is it known how far the best policy can be from the one that was found?"""
        return self.epsilon_lower is not None

    @property
    def gap(self) -> float | None:
        """How far at most."""
        return None if self.epsilon_lower is None else self.epsilon_upper - self.epsilon_lower

    @property
    def gamma_lower(self) -> float:
        """The regret against the best policy that was found. Iterates that vary may beat it."""
        return self.loss - self.epsilon_upper

    @property
    def gamma_upper(self) -> float | None:
        """What the regret cannot exceed, where that is proven."""
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
    """Split the mean loss of the iterates by the best policy in hindsight.

    epsilon_m in [hindsight_lower, hindsight_value],  gamma_m = losses_mean - epsilon_m

    Without a proven lower bound, as for networks, both are estimates.

    >>> print(regret(0.75, 0.5, 0.25))
    mean loss 0.75 = best policy in hindsight 0.25 to 0.5 + regret 0.25 to 0.5
    """
    check_number(losses_mean, "losses_mean")
    check_number(hindsight_value, "hindsight_value")
    if hindsight_lower is not None:
        check_number(hindsight_lower, "hindsight_lower")
        rounded = isclose(hindsight_lower, hindsight_value, rel_tol=1e-6, abs_tol=1e-9)
        if hindsight_lower > hindsight_value and not rounded:
            raise ValueError(
                f"`hindsight_lower` must not exceed `hindsight_value` = {hindsight_value:g}, but "
                f"{hindsight_lower:g} came; one of them is not a bound on the least mean loss."
            )
        hindsight_lower = min(hindsight_lower, hindsight_value)
    return Regret(losses_mean, hindsight_value, hindsight_lower)


def _share(on_policy: Flags, m: int) -> float:
    """How many are True, as a fraction."""
    flags = torch.as_tensor(on_policy)
    if flags.dtype != torch.bool:
        raise ValueError(
            f"`on_policy` must be booleans, but {flags.dtype} came; give `Trajectory.on_policy`, "
            "or known probabilities as `alphas`."
        )
    check_length(flags.numel(), m, "on_policy")
    return int(flags.sum()) / m


def _cut_off(alphas: list[float]) -> bool:
    """Are they 0 up to some round and 1 after it?"""
    return alphas[0] == 0 and set(alphas) <= {0.0, 1.0} and alphas == sorted(alphas)
