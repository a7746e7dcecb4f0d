"""The parts that a page is made of."""

from dataclasses import dataclass

from .figure import Drawn


@dataclass(frozen=True)
class Table:
    """Texts in lines and columns."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    strong: frozenset[tuple[int, int]] = frozenset()
    """The line and column of each text that is set off."""


@dataclass(frozen=True)
class Part:
    """A heading, what is to be said in this case, and what shows it."""

    name: str
    """Of its place on the page."""
    title: str
    told: tuple[str, ...]
    figures: tuple[Drawn, ...] = ()
    tables: tuple[Table, ...] = ()
    code: tuple[tuple[str, str], ...] = ()
    """Texts to copy, each with what it is."""
