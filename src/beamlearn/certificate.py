"""Certificates: a bound, the parts that it is the sum of, and how sure it is."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log, sqrt
from typing import Any

from .recorded import (
    Numbers,
    check_delta,
    check_number,
    check_upper,
    named,
    probably,
    rounded_up,
    vector,
)


@dataclass(frozen=True)
class Certificate:
    """A bound on the expected loss of the mixture, and the parts that it is the sum of."""

    statement: str
    """What proves it: "Theorem 1", "Theorem 3", "Theorem 4", "Equation 30" or "Equation 31"."""
    empirical_loss: float
    """The mean of the recorded losses."""
    roll_in_gap: float
    """What training beams that are not the learned policy's own may hide."""
    deviation: float
    """By how much a mean over this many examples may fall short of its expectation."""
    upper: float
    """u, which no loss exceeds."""
    delta: float | None
    """With which probability the bound may fail; None if it cannot."""
    rounds: int
    """m, the number of losses."""
    clip: bool = False
    """Is it about min(loss, u) instead of the loss?"""
    clipped: int = 0
    """How many losses were above u then."""

    @property
    def bound(self) -> float:
        """The certified bound: the sum of the parts."""
        return sum(self.parts.values())

    @property
    def parts(self) -> dict[str, float]:
        """What the bound is the sum of."""
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
        """Losses as the certificate is about them: with `clip`, none above u."""
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
        an exact oracle. `optima` says what c*(b_1), the cost of the best output, is: a number, if
        its expectation is known (0 where the right output can always be built: nothing is
        added), or that of each of m independent examples. Then c*(b_1) must vary by at most
        r = `optima_range`, and by Hoeffding's inequality, with probability 1 - `delta`,

        E c*(b_1) <= mean(optima) + r sqrt(log(1 / delta) / (2 m)).

        Both statements hold together with probability 1 less the sum of their deltas.

        >>> proof = Certificate("Theorem 1", 0.5, 0.0, 0.0, upper=2.0, delta=None, rounds=4)
        >>> proof.cost(0.25).bound
        0.75
        """
        if isinstance(optima, int | float):
            check_number(optima, "optima")
            return CostCertificate(self, float(optima), 0.0, self.delta)
        check_delta(delta)
        if optima_range is None:
            raise ValueError(
                "`optima_range` must be given where `optima` are those of a sample, but None came; "
                "say by how much c*(b_1) varies at most, or give its known expectation as a number."
            )
        check_upper(optima_range, "optima_range")
        sample = vector(optima, "optima")
        spread = float(sample.max() - sample.min())
        if spread > optima_range:
            raise ValueError(
                f"`optima` must differ by at most `optima_range` = {optima_range:g}, but two "
                f"differ by {spread:g}; raise it to what holds for every example."
            )
        deviation = optima_range * sqrt(log(1 / delta) / (2 * len(sample)))
        both = min(1.0, delta + (self.delta or 0.0))
        return CostCertificate(self, float(sample.mean()), deviation, both)

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {**asdict(self), "bound": self.bound, "vacuous": self.vacuous}

    def __str__(self) -> str:
        what = named(self.upper, self.clip)
        lines = [
            f"{probably(self.delta)} the expected {what} of the mixture of all iterates is at "
            f"most {rounded_up(self.bound)} ({self.statement}, {self.rounds} examples).",
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
    """What bounds the expected increase of the cost.

    Where it is about min(loss, u), an increase above u counts as u.
    """
    optimum: float
    """E c*(b_1), or its estimate."""
    deviation: float
    """By how much the estimate may fall short."""
    delta: float | None
    """With which probability one of the statements may fail; None if none can."""

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
            f"{probably(self.delta)} the expected cost{counted} of the mixture's outputs is at "
            f"most {rounded_up(self.bound)} (Theorem 2).\n"
            f"{self.optimum + self.deviation:10.4g}  cost of the best outputs\n"
            f"{self.loss.bound:10.4g}  bound on the loss, which bounds what is added"
        )
