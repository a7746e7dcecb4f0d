"""What to compare: rows of Table 1, strategies with losses, widths and seeds."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from ..check import check_choice
from ..training.choices import (
    ALGORITHM_NAMES,
    BASELINE_NAMES,
    LOSS_NAMES,
    ROW_NAMES,
    STRATEGY_NAMES,
)
from ..training.settings import Settings, read_widths

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
    """Accept `known` names; answer a misspelling with the nearest one."""

    def check(names: str) -> str:
        for name in names.split(","):
            check_choice(name, known, kind)
        return names

    return AfterValidator(check)


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
        description="Rows of the paper's Table 1, as in log_likelihood,continue: "
        f"{', '.join(ALGORITHM_NAMES)}; and baselines: {', '.join(BASELINE_NAMES)}.",
    )
    strategies: Annotated[str, Listed, each_of(STRATEGY_NAMES, "strategy")] | None = Field(
        default=None,
        description="Strategies to try with every loss, as in continue,reset: "
        f"{', '.join(STRATEGY_NAMES)}.",
    )
    losses: Annotated[str, Listed, each_of(LOSS_NAMES, "loss")] | None = Field(
        default=None,
        description="Losses to try with every strategy, or with continue alone: "
        f"{', '.join(LOSS_NAMES)}.",
    )
    widths: Annotated[str, Listed, AfterValidator(_widths)] = "8"
    """Of the beam in training, as in 1,4,8; first:last widens it. Rows for width 1 keep that."""
    test_widths: Annotated[str, Listed, AfterValidator(_test_widths)] | None = None
    """Of the beam in testing, as in 1,2,4,8; without it, 1 and those of training."""
    seeds: Annotated[int, Field(ge=1)] = 3
    """How often to train each, with the seeds 0, 1, ..."""
    test: str | None = None
    """The file to test on; without one, the validation file."""
    baseline: str | None = None
    """What the others are tested against, such as log_likelihood; without it, the first."""


def items(text: str | None) -> list[str]:
    """The different items of a list with commas."""
    return [] if text is None else list(dict.fromkeys(text.split(",")))
