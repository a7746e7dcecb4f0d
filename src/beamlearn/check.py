"""Checks of arguments; each message says what is required, what was given and what to do."""

import difflib
from collections.abc import Iterable, Mapping
from operator import index
from typing import SupportsIndex, TypeVar

Entry = TypeVar("Entry")
LONGEST = 200
"""The most characters of a wrong value in a message: it may be all of a damaged file."""


def quoted(value: object) -> str:
    """A wrong value as messages show it: all of it, or its beginning if it is long.

    >>> quoted("8.1"), len(quoted("9" * 5000))
    ("'8.1'", 203)
    """
    return shortened(repr(value))


def shortened(text: str) -> str:
    """A text, or its beginning if it is too long for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


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
    return f"There is no {kind} called {quoted(name)}.{hint} Known: {', '.join(known)}."


def check_choice(name: str, known: Iterable[str], kind: str) -> None:
    """Refuse a `name` that is not `known`."""
    if name not in (known := list(known)):
        raise ValueError(unknown(known, name, kind))


def check_width(width: object, name: str = "width", one: str = "greedy search") -> int:
    """Refuse a beam width that is not a whole number of at least 1; return it as an int.

    `one` says what a width of 1 is for.
    """
    if isinstance(width, bool) or not isinstance(width, SupportsIndex):
        raise TypeError(
            f"`{name}` must be a whole number of at least 1, got {width!r}; use 1 for {one}."
        )
    width = index(width)
    if width < 1:
        raise ValueError(f"`{name}` must be at least 1, got {width}; use 1 for {one}.")
    return width


def check_example(example: int, examples: int) -> None:
    """Refuse an example that the batch does not have."""
    if not 0 <= example < examples:
        raise IndexError(
            f"`example` must be a number from 0 to {examples - 1}, as the batch has {examples} "
            f"examples, got {example}."
        )


def allowed_steps(max_steps: int | None, usual: int) -> int:
    """How many transitions a search may take: `max_steps`, or if that is None what is `usual`."""
    if max_steps is None:
        return usual
    if max_steps < 1:
        raise ValueError(
            f"`max_steps` must be at least 1, got {max_steps}; leave it out for the limit of the "
            f"space, {usual}."
        )
    return max_steps


def check_steps(taken: int, allowed: int) -> None:
    """Refuse to search forever."""
    if taken >= allowed:
        raise ValueError(
            f"A search must reach a terminal node within `max_steps` = {allowed} transitions, "
            "but one did not; give the space a maximum length, or raise `max_steps`."
        )


class UsageError(ValueError):
    """What was given cannot be used; `settings` names those that would fix it, if any.

    The message is for people who call the library; the command line adds the flags.
    """

    def __init__(self, message: str, *settings: str) -> None:
        super().__init__(message)
        self.settings = settings
