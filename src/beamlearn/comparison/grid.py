"""What to compare: rows of Table 1, strategies with losses, widths and seeds."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from ..training.choices import (
    ALGORITHM_NAMES,
    BASELINE_NAMES,
    LOSS_NAMES,
    ROW_NAMES,
    STRATEGY_NAMES,
)
from ..training.ramps import read_widths
from ..training.settings import OneOf, Settings

COMPARED = {
    "algorithm": "algorithms",
    "strategy": "strategies",
    "loss": "losses",
    "width": "widths",
    "seed": "seeds",
}
"""The settings of learning that a grid chooses, and what it calls them."""


def listed(value: object) -> str:
    """Accept a list, or its items with commas between them."""
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    return ",".join(str(item).strip() for item in items)


def each_of(known: Iterable[str], kind: str) -> AfterValidator:
    """Accept lists of `known` names."""
    return AfterValidator(OneOf(tuple(known), kind, several=True))


def _widths(value: str) -> str:
    try:
        for item in value.split(","):
            read_widths(item)
    except ValueError:
        raise ValueError(
            f"must be whole numbers of at least 1, as in 1,4,8, or ramps as in 1:8, got {value!r}"
        ) from None
    return value


def _test_widths(value: str) -> str:
    if not all(item.isdecimal() and int(item) >= 1 for item in value.split(",")):
        raise ValueError(f"must be whole numbers of at least 1, as in 1,2,4,8, got {value!r}")
    return value


Listed = BeforeValidator(listed)


class Grid(Settings):
    """The ways to train that are compared, and what they are tested on."""

    algorithms: Annotated[str, Listed, each_of(ROW_NAMES, "algorithm")] | None = Field(
        default=None,
        description="Algorithms to compare, separated by commas. From the paper's Table 1: "
        f"{', '.join(ALGORITHM_NAMES)}; baselines: {', '.join(BASELINE_NAMES)}. "
        "(default: log_likelihood,joint, unless strategies or losses are given)",
    )
    strategies: Annotated[str, Listed, each_of(STRATEGY_NAMES, "strategy")] | None = Field(
        default=None,
        description="Strategies to combine with every loss, separated by commas: "
        f"{', '.join(STRATEGY_NAMES)}. (default: continue, if losses are given)",
    )
    losses: Annotated[str, Listed, each_of(LOSS_NAMES, "loss")] | None = Field(
        default=None,
        description="Losses to combine with every strategy, separated by commas: "
        f"{', '.join(LOSS_NAMES)}. (default: log_loss_neighbors, if strategies are given)",
    )
    widths: Annotated[str, Listed, AfterValidator(_widths)] = "8"
    """Widths of the beam in training, as in 1,4,8; 1:8 widens it during training. Algorithms that
    are defined for width 1 are trained at 1 only."""
    test_widths: Annotated[str, Listed, AfterValidator(_test_widths)] | None = None
    """Widths of the beam in testing, as in 1,2,4,8. (default: 1 and the training widths)"""
    seeds: Annotated[int, Field(ge=1)] = 3
    """Number of trainings of each kind, with the seeds 0, 1, ..."""
    test: str | None = None
    """Test file. (default: the validation file)"""
    baseline: str | None = None
    """What the others are tested against, such as log_likelihood. (default: the first)"""


def items(text: str | None) -> list[str]:
    """The different items of a list with commas."""
    return [] if text is None else list(dict.fromkeys(text.split(",")))
