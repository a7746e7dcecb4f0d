"""What finished outputs cost, by any Python function."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from .space import SearchSpace

Cost = Callable[[Any, Any], float]
"""What an output costs: a function of the input, as `SearchSpace.input` has it, and the output."""
BatchedCost = Callable[[Sequence[Any], Sequence[Any]], Sequence[float]]
"""The same for lists of inputs and outputs."""


class CostError(ValueError):
    """A cost that failed, or is no finite number; the message says of what."""


def costs_of(
    cost: Cost | BatchedCost,
    space: SearchSpace[Any],
    examples: Sequence[int],
    outputs: Sequence[Any],
    *,
    batched: bool = False,
) -> Float[Tensor, " outputs"]:
    """The cost of each output; a function that fails is reported with what it was given."""
    inputs = [space.input(example) for example in examples]
    if batched:
        values = _all_at_once(cast(BatchedCost, cost), inputs, outputs)
    else:
        cases = zip(inputs, outputs, examples, strict=True)
        one = cast(Cost, cost)
        values = [checked_cost(one, x, y, where(number, y)) for x, y, number in cases]
    for value, output, example in zip(values, outputs, examples, strict=True):
        check_finite(value, where(example, output))
    return torch.tensor(values, dtype=torch.float64)


def checked_cost(cost: Callable[[Any, Any], float], one: Any, other: Any, where: str) -> float:
    """What a function says of two things; if it fails, or is not finite, the error says where."""
    try:
        value = float(cost(one, other))
    except CostError:  # it knows better what it is about
        raise
    except Exception as error:
        raise CostError(f"`cost` failed ({type(error).__name__}: {error}) {where}.") from error
    check_finite(value, where)
    return value


def check_finite(value: float, where: str) -> None:
    """Refuse a cost that is NaN or infinite."""
    if not isfinite(value):
        raise CostError(f"`cost` must return a finite number, got {value} {where}.")


def _all_at_once(cost: BatchedCost, inputs: list[Any], outputs: Sequence[Any]) -> list[float]:
    try:
        values = [float(value) for value in cost(inputs, outputs)]
    except Exception as error:
        raise CostError(
            f"`cost` failed ({type(error).__name__}: {error}) for {len(outputs)} outputs, the "
            f"first of which is {outputs[0]!r:.80}."
        ) from error
    if len(values) != len(outputs):
        raise CostError(
            f"`cost` must return a number for each of {len(outputs)} outputs, got {len(values)}."
        )
    return values


def where(example: int, output: Any) -> str:
    """Which example and output an error is about."""
    return f"for example {example} of the batch and the output {output!r:.80}"
