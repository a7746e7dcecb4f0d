"""Settings that may change during training: what is accepted for each of them."""

from math import inf
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from ..check import quoted
from ..learning.ramp import Ramp


def read_ramp(value: object) -> Ramp:
    """Accept a number, or two with a colon: from the first to the second during training."""
    try:
        return Ramp.parse(value)
    except ValueError:
        raise ValueError(f"must be a number, or two as in 1:8, got {quoted(str(value))}") from None


def read_widths(value: object) -> Ramp:
    """Accept whole numbers from 1 up, without a decimal point."""
    ramp = read_ramp(value)
    if not all(isinstance(one, int) and one >= 1 for one in (ramp.first, ramp.last)):
        raise ValueError(
            f"must be a whole number of at least 1, or two as in 1:8, got {quoted(str(value))}"
        )
    return ramp


def read_probabilities(value: object) -> Ramp:
    """Accept numbers between 0 and 1."""
    ramp = read_ramp(value)
    if not all(0 <= one <= 1 for one in (ramp.first, ramp.last)):
        raise ValueError(
            f"must be between 0 and 1, or two such numbers as in 0.9:0, got {quoted(str(value))}"
        )
    return ramp


def read_weights(value: object) -> Ramp:
    """Accept numbers from 0 up."""
    ramp = read_ramp(value)
    if not all(0 <= one < inf for one in (ramp.first, ramp.last)):
        raise ValueError(
            "must be a number of at least 0, or two such numbers as in 0:0.1, got "
            f"{quoted(str(value))}"
        )
    return ramp


WidthRamp = Annotated[Ramp, BeforeValidator(read_widths), PlainSerializer(str)]
BetaRamp = Annotated[Ramp, BeforeValidator(read_probabilities), PlainSerializer(str)]
WeightRamp = Annotated[Ramp, BeforeValidator(read_weights), PlainSerializer(str)]
