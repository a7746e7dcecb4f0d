"""Wrong examples: which outputs could be better, which are worst, and who is to blame."""

from typing import Literal, get_args

from ..check import check_choice
from .evaluate import Evaluation

ErrorKind = Literal["search", "model", "any"]
"""Which errors to look at: those of the search, those of the model, or both."""
KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


def error_kind(name: str) -> ErrorKind:
    """Read a kind of error; a ValueError with the nearest name if there is none."""
    check_choice(name, KINDS, "errors")
    return next(kind for kind in KINDS if kind == name)


def wrong_examples(found: Evaluation, kind: ErrorKind = "any") -> list[int]:
    """The places of the examples with errors of a kind, in the order of the data.

    An output with a regret is a search error if the model scores the best output higher, and a
    model error if not. `found` must have been evaluated with references.
    """
    return [
        place
        for place in (found.regrets > 0).nonzero().flatten().tolist()
        if kind in ("any", blame(found, place))
    ]


def worst_examples(found: Evaluation, most: int) -> list[int]:
    """The places of the outputs that cost most, those that cost something only; first come first.

    >>> from torch import tensor
    >>> costs = tensor([0.0, 2.0, 3.0, 2.0])
    >>> worst_examples(Evaluation(costs, costs, tensor([0, 1, 1, 1])), 3)
    [2, 1, 3]
    """
    order = found.costs.argsort(descending=True, stable=True)[:most]
    return [place for place in order.tolist() if float(found.costs[place]) > 0]


def blame(found: Evaluation, place: int) -> ErrorKind | None:
    """Is the search to blame for an output, or the model? None if none could be better."""
    if float(found.regrets[place]) <= 0:
        return None
    if found.search_errors is None:
        raise ValueError(
            "`found` must hold search errors, got none; call `evaluate` with `references=True`."
        )
    return "search" if bool(found.search_errors[place]) else "model"
