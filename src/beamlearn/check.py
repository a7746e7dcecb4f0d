"""Checks of arguments; each message says what is required, what was given and what to do."""

import difflib
from collections.abc import Iterable, Mapping
from math import isfinite
from operator import index
from typing import SupportsIndex, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

Entry = TypeVar("Entry")


def by_name(table: Mapping[str, Entry], name: str, kind: str) -> Entry:
    """Look up `name`; a misspelling is answered with the nearest name."""
    if name not in table:
        raise ValueError(unknown(table, name, kind))
    return table[name]


def unknown(known: Iterable[str], name: str, kind: str) -> str:
    """The sentence for a name that is not `known`."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no {kind} called {name!r}.{hint} Known: {', '.join(known)}."


def check_choice(name: str, known: Iterable[str], kind: str) -> None:
    """Refuse a `name` that is not `known`."""
    if name not in (known := list(known)):
        raise ValueError(unknown(known, name, kind))


def check_width(width: object) -> int:
    """Refuse a beam width that is not a whole number of at least 1; return it as an int."""
    if isinstance(width, bool) or not isinstance(width, SupportsIndex):
        raise TypeError(
            f"`width` must be a whole number of at least 1, got {width!r}; use 1 for greedy search."
        )
    width = index(width)
    if width < 1:
        raise ValueError(f"`width` must be at least 1, got {width}; use 1 for greedy search.")
    return width


def check_example(example: int, examples: int) -> None:
    """Refuse an example that the batch does not have."""
    if not 0 <= example < examples:
        raise IndexError(
            f"`example` must be a number from 0 to {examples - 1}, as the batch has {examples} "
            f"examples, got {example}."
        )


def check_steps(taken: int, allowed: int) -> None:
    """Refuse to search forever."""
    if taken >= allowed:
        raise ValueError(
            f"A search must reach a terminal node within `max_steps` = {allowed} transitions, "
            "but one did not; give the space a maximum length, or raise `max_steps`."
        )


def check_shape(given: Tensor, required: tuple[int, ...], what: str, whose: str) -> None:
    """Refuse a tensor that does not have one entry per example, slot and action."""
    if tuple(given.shape) != required:
        raise ValueError(
            f"The {whose} must give {what} of shape {required} (examples, slots, actions), got "
            f"{tuple(given.shape)}."
        )


class NotFiniteError(ValueError):
    """A score that is NaN or infinite."""


def check_best_scores(best: Float[Tensor, " batch"], examples: Int[Tensor, " batch"]) -> None:
    """Refuse NaN and +inf, which sort first, and beams without neighbors, which show as -inf."""
    if isfinite(float(best.sum())):  # one number to look at, and no overflow: all are finite
        return
    finite = torch.isfinite(best)
    if bool(finite.all()):
        return
    row = int((~finite).nonzero()[0, 0])
    example, value = int(examples[row]), float(best[row])
    if value == -torch.inf:
        raise ValueError(
            f"Every beam needs a neighbor, but no node in the beam of example {example} has a "
            "legal action; let the space rule out actions that lead into a dead end."
        )
    raise NotFiniteError(
        f"Scores must be finite, but the scorer gave {value} to a neighbor of example {example}; "
        "look for an overflow or a division by zero in `score` (only -inf is allowed: it rules "
        "an action out)."
    )
