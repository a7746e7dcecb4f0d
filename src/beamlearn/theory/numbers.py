"""Recorded numbers, checked before anything is concluded from them."""

from collections.abc import Sequence
from math import floor, isfinite, log10

import torch
from jaxtyping import Float
from torch import Tensor

Numbers = Sequence[float] | Float[Tensor, "_"]


def vector(numbers: Numbers, name: str) -> Float[Tensor, " m"]:
    """The same as a tensor; refuse what is not a list of finite numbers."""
    values = torch.as_tensor(numbers, dtype=torch.float64).detach().cpu()
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"`{name}` must be a list of at least one number, but one of shape "
            f"{tuple(values.shape)} came; give one number per example."
        )
    bad = ~values.isfinite()
    if bool(bad.any()):
        at = int(bad.nonzero()[0, 0])
        raise ValueError(
            f"`{name}` must be finite, but number {at + 1} is {float(values[at])}; look for an "
            "overflow in what computed it."
        )
    return values


def losses_within(losses: Numbers, upper: float, place: str, mend: str) -> Float[Tensor, " m"]:
    """Refuse losses outside [0, upper]; `place` is what an entry is, `mend` what helps above."""
    values = vector(losses, "losses")
    for wrong, required, remedy in (
        (values < 0, "at least 0", "only a loss that is never negative can be certified"),
        (values > upper, f"at most `upper` = {upper:g}", mend),
    ):
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0, 0])
            raise ValueError(
                f"Losses must be {required}, but that of {place} {at + 1} is "
                f"{float(values[at]):g}; {remedy}."
            )
    return values


def probabilities(numbers: Numbers, name: str, m: int | None = None) -> list[float]:
    """Refuse numbers that are no probabilities or, if `m` is given, not one per loss."""
    values: list[float] = vector(numbers, name).tolist()
    if m is not None:
        check_length(len(values), m, name)
    for at, value in enumerate(values, start=1):
        if not 0 <= value <= 1:
            raise ValueError(
                f"`{name}` must be probabilities from 0 to 1, but that of round {at} is {value:g}."
            )
    return values


def check_length(came: int, m: int, name: str) -> None:
    """Refuse more or fewer entries than losses."""
    if came != m:
        raise ValueError(f"`{name}` must have one entry per loss, {m}, but {came} came.")


def check_delta(delta: float) -> None:
    """Refuse a probability of failure outside (0, 1]."""
    if not 0 < delta <= 1:
        raise ValueError(
            f"`delta` must be above 0 and at most 1, but {delta} came; it is the probability that "
            "the bound fails, such as 0.05."
        )


def check_upper(upper: float, name: str) -> None:
    """Refuse what is not a bound."""
    if not (isfinite(upper) and upper >= 0):
        raise ValueError(f"`{name}` must be a finite number of at least 0, but {upper} came.")


def check_number(value: float, name: str) -> None:
    """Refuse NaN and infinities."""
    if not isfinite(value):
        raise ValueError(f"`{name}` must be a finite number, but {value} came.")


def probably(delta: float | None) -> str:
    """How sure a statement is, to begin its sentence with."""
    return "Surely" if delta is None else f"With probability at least {1 - delta:.12g},"


def rounded_up(bound: float) -> str:
    """A bound in four digits that is not below it.

    >>> rounded_up(0.123412), rounded_up(0.5)
    ('0.1235', '0.5')
    """
    shown = f"{bound:.4g}"
    if float(shown) >= bound:
        return shown
    return f"{bound + 10.0 ** (floor(log10(abs(bound))) - 3):.4g}"


def named(upper: float, clip: bool) -> str:
    """What a certificate is about."""
    return f"min(loss, {upper:g})" if clip else "loss"
