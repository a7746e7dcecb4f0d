"""Recorded numbers, checked before anything is concluded from them."""

from collections.abc import Sequence
from math import floor, isfinite, log10

import torch
from jaxtyping import Float
from torch import Tensor

Numbers = Sequence[float] | Float[Tensor, "_"]


def finite_vector(numbers: Numbers, name: str) -> Float[Tensor, " m"]:
    """Convert to a tensor; refuse anything but a list of finite numbers."""
    values = torch.as_tensor(numbers, dtype=torch.float64).detach().cpu()
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"`{name}` must be a list of at least one number, got shape {tuple(values.shape)}; "
            "pass one number per example."
        )
    bad = ~values.isfinite()
    if bool(bad.any()):
        at = int(bad.nonzero()[0, 0])
        raise ValueError(
            f"`{name}` must be finite, got {float(values[at])} as number {at + 1}; look for an "
            "overflow in the computation."
        )
    return values


def checked_losses(losses: Numbers, upper: float, place: str, fix: str) -> Float[Tensor, " m"]:
    """Refuse losses outside [0, upper].

    `place` names what an entry belongs to; `fix` is the remedy for losses above `upper`.
    """
    values = finite_vector(losses, "losses")
    for wrong, required, remedy in (
        (values < 0, "at least 0", "only a loss that is never negative can be certified"),
        (values > upper, f"at most `upper` = {upper:g}", fix),
    ):
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0, 0])
            raise ValueError(
                f"`losses` must be {required}, got {float(values[at]):g} for {place} {at + 1}; "
                f"{remedy}."
            )
    return values


def checked_probabilities(numbers: Numbers, name: str, m: int | None = None) -> list[float]:
    """Refuse numbers that are not probabilities or, if `m` is given, not one per loss."""
    values: list[float] = finite_vector(numbers, name).tolist()
    if m is not None:
        check_length(len(values), m, name)
    for at, value in enumerate(values, start=1):
        if not 0 <= value <= 1:
            raise ValueError(
                f"`{name}` must be probabilities from 0 to 1, got {value:g} for round {at}."
            )
    return values


def check_length(length: int, m: int, name: str) -> None:
    """Refuse more or fewer entries than losses."""
    if length != m:
        raise ValueError(f"`{name}` must have one entry per loss ({m}), got {length}.")


def check_delta(delta: float) -> None:
    """Refuse a probability of failure outside (0, 1]."""
    if not 0 < delta <= 1:
        raise ValueError(
            f"`delta` must be above 0 and at most 1, got {delta}; it is the probability that the "
            "bound fails, such as 0.05."
        )


def check_upper(upper: float, name: str, *, clip: bool = False) -> None:
    """Refuse bounds that are negative or not finite; with `clip`, those that losses are cut to."""
    if not (isfinite(upper) and upper >= 0):
        role = ", to which `clip=True` cuts the losses," if clip else ""
        raise ValueError(f"`{name}`{role} must be a finite number of at least 0, got {upper}.")


def check_finite(value: float, name: str) -> None:
    """Refuse NaN and infinities."""
    if not isfinite(value):
        raise ValueError(f"`{name}` must be a finite number, got {value}.")


def confidence_phrase(delta: float | None) -> str:
    """The opening of a sentence: how likely its statement is to hold."""
    return "Certainly," if delta is None else f"With probability at least {1 - delta:.12g},"


def round_up(bound: float) -> str:
    """Write a bound in four digits, rounded up.

    >>> round_up(0.123412), round_up(0.5)
    ('0.1235', '0.5')
    """
    shown = f"{bound:.4g}"
    if float(shown) >= bound:
        return shown
    return f"{bound + 10.0 ** (floor(log10(abs(bound))) - 3):.4g}"


def loss_phrase(upper: float, clip: bool) -> str:
    """The quantity that a certificate bounds."""
    return f"min(loss, {upper:g})" if clip else "loss"
