"""One iterate instead of the mixture of all."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, log, sqrt
from typing import Any

from .numbers import (
    Numbers,
    check_delta,
    check_upper,
    checked_losses,
    confidence_phrase,
    loss_phrase,
    round_up,
)


@dataclass(frozen=True)
class SelectedIterate:
    """One iterate and a bound on its expected loss."""

    index: int
    """Its position, counted from 0."""
    empirical_loss: float
    """Its mean loss on later examples."""
    deviation: float
    """How far that mean may lie below the expected loss, for any of the iterates."""
    upper: float
    delta: float
    estimates: tuple[float | None, ...]
    """The bound of every iterate; None where no later examples were seen."""
    clip: bool = False
    """Is it about min(loss, u) instead of the loss?"""

    @property
    def bound(self) -> float:
        """The certified bound, the least of the estimates."""
        return self.empirical_loss + self.deviation

    @property
    def vacuous(self) -> bool:
        """Does it say no more than that no loss exceeds u?"""
        return self.bound >= self.upper

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {**asdict(self), "bound": self.bound, "vacuous": self.vacuous}

    def __str__(self) -> str:
        eligible = sum(estimate is not None for estimate in self.estimates)
        what = loss_phrase(self.upper, self.clip)
        lines = [
            f"{confidence_phrase(self.delta)} the expected {what} of iterate {self.index + 1}, "
            f"chosen among {eligible}, is at most {round_up(self.bound)}.",
            f"{self.empirical_loss:10.4g}  mean {what} on later examples",
            f"{self.deviation:10.4g}  deviation of a sample of this size, and the choice",
        ]
        if self.vacuous:
            lines.append(f"Vacuous: no {what} is above {self.upper:g} anyway.")
        return "\n".join(lines)


def select_iterate(
    later_losses: Sequence[Numbers], *, upper: float, delta: float = 0.05, clip: bool = False
) -> SelectedIterate:
    """Choose one iterate by its losses on examples that came after it, and bound its loss.

    argmin over t of  mean(l_t) + u sqrt(log(K / delta) / (2 n_t))

    `later_losses[t]` are the losses of iterate t, on its own trajectories, of n_t examples that
    no update before it has seen; K is the number of iterates with such losses. Given the iterate
    they are independent, so by Hoeffding's inequality each estimate is below the iterate's
    expected loss with probability at most delta / K, and any of them is with probability at most
    delta: the least estimate bounds the expected loss of its iterate. With `clip=True` all of
    this is about min(loss, u). Which iterates are kept, and how many examples each gets, must not
    depend on these losses.

    Cesa-Bianchi, Conconi and Gentile (2004) choose among all m iterates of a run by a penalty of
    the same form, sqrt(log(m (m + 1) / delta) / (2 (n_t + 1))), and bound the loss of the chosen
    one by the mean loss of the run; the bound here is the chosen one's own.

    >>> chosen = select_iterate([[1.0, 1.0] * 50, [0.0, 1.0] * 50, []], upper=1.0)
    >>> chosen.index, round(chosen.bound, 3)
    (1, 0.636)
    """
    check_upper(upper, "upper", clip=clip)
    check_delta(delta)
    eligible = sum(len(losses) > 0 for losses in later_losses)
    if not eligible:
        raise ValueError(
            "`later_losses` must hold losses of at least one iterate, got none; select an iterate "
            "before the last examples are used, or hold some back."
        )
    found: dict[int, tuple[float, float]] = {}
    for index, losses in enumerate(later_losses):
        if len(losses) > 0:
            most, place = inf if clip else upper, f"iterate {index + 1}, example"
            values = checked_losses(losses, most, place, "raise `upper`").clamp(max=upper)
            deviation = upper * sqrt(log(eligible / delta) / (2 * len(values)))
            found[index] = float(values.mean()), deviation
    best = min(found, key=lambda index: sum(found[index]))
    estimates = tuple(
        sum(found[index]) if index in found else None for index in range(len(later_losses))
    )
    return SelectedIterate(best, *found[best], upper, delta, estimates, clip)


select = select_iterate
"""Its shorter name in `bl`."""
