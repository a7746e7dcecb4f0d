"""Certificates: a bound, the terms that add up to it, and how likely it is to hold."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, log, sqrt
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from .numbers import (
    Numbers,
    check_delta,
    check_finite,
    check_length,
    check_upper,
    checked_losses,
    checked_probabilities,
    confidence_phrase,
    finite_vector,
    loss_phrase,
    round_up,
)

Flags = Sequence[bool] | Bool[Tensor, "_"]


@dataclass(frozen=True)
class Certificate:
    """A bound on the expected loss of the mixture, and the terms that add up to it."""

    statement: str
    """What proves it: "Theorem 1", "Theorem 3", "Theorem 4", "Equation 30" or "Equation 31"."""
    empirical_loss: float
    """The mean of the recorded losses."""
    roll_in_gap: float
    """The loss that may go unseen because training visited beams that the policy would not."""
    deviation: float
    """How far the mean over this many examples may lie below its expectation."""
    upper: float
    """u, which no loss exceeds."""
    delta: float | None
    """The probability that the bound fails; None if it cannot."""
    rounds: int
    """m, the number of losses."""
    clip: bool = False
    """Is it about min(loss, u) instead of the loss?"""
    clipped: int = 0
    """How many losses were above u and therefore clipped."""

    @property
    def bound(self) -> float:
        """The certified bound: the sum of the parts."""
        return sum(self.parts.values())

    @property
    def parts(self) -> dict[str, float]:
        """The terms of the bound, by name."""
        return {
            "empirical_loss": self.empirical_loss,
            "roll_in_gap": self.roll_in_gap,
            "deviation": self.deviation,
        }

    @property
    def vacuous(self) -> bool:
        """Does it say no more than that no loss exceeds u?"""
        return self.bound >= self.upper

    def counted(self, losses: Sequence[float]) -> list[float]:
        """Losses as the certificate counts them: with `clip`, those above u count as u."""
        return [min(loss, self.upper) for loss in losses] if self.clip else list(losses)

    def cost(
        self,
        optima: float | Numbers,
        *,
        optima_range: float | None = None,
        delta: float = 0.05,
    ) -> "CostCertificate":
        """Bound the expected cost of the mixture's outputs (Theorem 2).

        mean_t c(theta_t) <= E c*(b_1) + bound,  if the loss bounds the transition cost

        That is so for a loss with `bounds_cost`, summed (not averaged) along trajectories with
        an exact oracle. `optima` gives c*(b_1), the cost of the best output: one number if its
        expectation is known (0 where the right output can always be built, so that nothing is
        added), or one per example for m independent examples. In the second case c*(b_1) must
        vary by at most r = `optima_range`, and by Hoeffding's inequality, with probability
        1 - `delta`,

        E c*(b_1) <= mean(optima) + r sqrt(log(1 / delta) / (2 m)).

        Both statements hold together with probability 1 less the sum of their deltas.

        >>> proof = Certificate("Theorem 1", 0.5, 0.0, 0.0, upper=2.0, delta=None, rounds=4)
        >>> proof.cost(0.25).bound
        0.75
        """
        if isinstance(optima, int | float):
            check_finite(optima, "optima")
            return CostCertificate(self, float(optima), 0.0, self.delta)
        check_delta(delta)
        if optima_range is None:
            raise ValueError(
                "`optima_range` must be given when `optima` is a sample, got None; pass the most "
                "by which c*(b_1) can vary, or pass its known expectation as a single number."
            )
        check_upper(optima_range, "optima_range")
        sample = finite_vector(optima, "optima")
        spread = float(sample.max() - sample.min())
        if spread > optima_range:
            raise ValueError(
                f"`optima` must differ by at most `optima_range` = {optima_range:g}, got two that "
                f"differ by {spread:g}; raise `optima_range` until it covers every example."
            )
        deviation = optima_range * sqrt(log(1 / delta) / (2 * len(sample)))
        both = min(1.0, delta + (self.delta or 0.0))
        return CostCertificate(self, float(sample.mean()), deviation, both)

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {**asdict(self), "bound": self.bound, "vacuous": self.vacuous}

    def __str__(self) -> str:
        what = loss_phrase(self.upper, self.clip)
        lines = [
            f"{confidence_phrase(self.delta)} the expected {what} of the mixture of all iterates "
            f"is at most {round_up(self.bound)} ({self.statement}, {self.rounds} examples).",
            f"{self.empirical_loss:10.4g}  mean {what}, each before the update on it",
        ]
        if self.roll_in_gap:
            lines.append(f"{self.roll_in_gap:10.4g}  beams that the learned policy did not choose")
        if self.delta is not None:
            lines.append(f"{self.deviation:10.4g}  deviation of a sample of this size")
        if self.clip:
            lines.append(f"Losses above {self.upper:g} count as that: {self.clipped} of them.")
        if self.vacuous:
            lines.append(f"Vacuous: no {what} is above {self.upper:g} anyway.")
        return "\n".join(lines)


@dataclass(frozen=True)
class CostCertificate:
    """A bound on the expected cost of the mixture's outputs (Theorem 2)."""

    loss: Certificate
    """The bound on the expected increase of the cost.

    If it is about min(loss, u), an increase above u counts as u.
    """
    optimum: float
    """E c*(b_1), or its estimate."""
    deviation: float
    """How far the estimate may lie below the expectation."""
    delta: float | None
    """The probability that one of the statements fails; None if none can."""

    @property
    def bound(self) -> float:
        """The certified bound."""
        return self.optimum + self.deviation + self.loss.bound

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name; those of the loss under "loss"."""
        return {**asdict(self), "loss": self.loss.to_json(), "bound": self.bound}

    def __str__(self) -> str:
        counted = f", increases above {self.loss.upper:g} counted as that," * self.loss.clip
        return (
            f"{confidence_phrase(self.delta)} the expected cost{counted} of the mixture's outputs "
            f"is at most {round_up(self.bound)} (Theorem 2).\n"
            f"{self.optimum + self.deviation:10.4g}  cost of the best outputs\n"
            f"{self.loss.bound:10.4g}  bound on the loss, which bounds what is added"
        )


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
    time, in order. If an update uses several examples, each is an entry: given theta_t they are
    independent, so each is a step of the martingale, and the mixture weights theta_t by their
    number.

    `on_policy` says for each trajectory whether the learned policy alone could have led through
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
    check_upper(upper, "upper", clip=clip)
    fix = "raise `upper`, or pass `clip=True`"
    values = checked_losses(losses, inf if clip else upper, "round", fix)
    clipped = int((values > upper).sum())
    m, mean = len(values), float(values.clamp(max=upper).mean())
    given = [
        name for name, value in (("on_policy", on_policy), ("alphas", alphas)) if value is not None
    ]
    if explicit and given:
        raise ValueError(
            f"`explicit=True` must be used without `on_policy` and `alphas`, got `{given[0]}`; "
            "leave it out, as explicit losses already are those of the learned policy."
        )
    if explicit:
        return Certificate("Theorem 1", mean, 0.0, 0.0, upper, None, m, clip, clipped)
    if len(given) == 2:
        raise ValueError(
            "Only one of `on_policy` and `alphas` can be given, got both; use `alphas` if the "
            "probabilities are known, and `on_policy` otherwise."
        )
    check_delta(delta)
    statement, share, etas = "Theorem 3", 1.0, 1
    if on_policy is not None:
        statement, share, etas = "Theorem 4", _share(on_policy, m), 2
    if alphas is not None:
        known = checked_probabilities(alphas, "alphas", m)
        statement = "Equation 31" if _cut_off(known) else "Equation 30"
        share = sum(known) / m
    deviation = etas * upper * sqrt(2 * log(1 / delta) / m)
    gap = upper * (1 - share)
    return Certificate(statement, mean, gap, deviation, upper, delta, m, clip, clipped)


def interpolation_alphas(betas: Numbers, horizon: int) -> list[float]:
    """Bound from below the probability that interpolation follows the learned policy to b_{h-1}.

    alpha_t = (1 - beta_t)^(h - 2) for trajectories of at most h = `horizon` beams

    `betas` has an entry for each loss, the probability that a step follows the oracle.

    >>> interpolation_alphas([1.0, 0.5, 0.0], horizon=4)
    [0.0, 0.25, 1.0]
    """
    if horizon < 2:
        raise ValueError(
            f"`horizon` must be at least 2, got {horizon}; count the beams of the longest "
            "trajectory, including the initial one."
        )
    return [(1 - beta) ** (horizon - 2) for beta in checked_probabilities(betas, "betas")]


def _share(on_policy: Flags, m: int) -> float:
    """The share of True entries."""
    flags = torch.as_tensor(on_policy)
    if flags.dtype != torch.bool:
        raise ValueError(
            f"`on_policy` must hold booleans, got {flags.dtype}; pass `Trajectory.on_policy`, or "
            "pass known probabilities as `alphas`."
        )
    check_length(flags.numel(), m, "on_policy")
    return int(flags.sum()) / m


def _cut_off(alphas: list[float]) -> bool:
    """Are they 0 up to some round and 1 after it?"""
    return alphas[0] == 0 and set(alphas) <= {0.0, 1.0} and alphas == sorted(alphas)
