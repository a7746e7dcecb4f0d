"""The sections of a page."""

from dataclasses import dataclass

from .figure import PageFigure


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    strong: frozenset[tuple[int, int]] = frozenset()
    """The line and column of each text in bold."""


@dataclass(frozen=True)
class Section:
    """A heading with sentences, figures, tables and texts to copy."""

    name: str
    """The id of its element."""
    title: str
    sentences: tuple[str, ...]
    figures: tuple[PageFigure, ...] = ()
    tables: tuple[Table, ...] = ()
    code: tuple[tuple[str, str], ...] = ()
    """Texts to copy, each after its label."""
