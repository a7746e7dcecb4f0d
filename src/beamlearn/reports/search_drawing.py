"""A picture of a search: beams as columns, hypotheses as rows that fork and die."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import final

from rich.cells import cell_len

from ..data import atomic
from ..search.history import Dropped, History, HistoryNode
from .pages import Markup, render

ROW, GAP, HEAD = 46, 44, 34
"""Pixels: the height of a row, the room for edges between beams, the height of a heading."""
LEAST, MOST, LETTER, MARK = 9.5, 19.0, 0.48, 2.5
"""The smallest and largest width of a box, and the room for a letter and for its mark, in rem."""


@final
@dataclass(frozen=True)
class Drawing:
    """A picture of a search: a notebook shows it, `write` saves it as a page of its own."""

    history: History
    title: str = "A beam search"
    headings: tuple[str, ...] = ()
    """What each step decides on, where that is known."""

    @cached_property
    def html(self) -> str:
        """A page that stands alone."""
        drawn = draw_search(self.history, self.headings)
        return str(render("drawing.html", title=self.title, picture=drawn))

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style and the notebook's do not mix."""
        rows = max(map(len, self.history.beams)) + bool(self.history.drops)
        return str(render("drawing_frame.html", page=self.html, height=ROW * rows + HEAD + 190))

    def write(self, path: str | Path) -> None:
        """Write the page."""
        atomic.write_bytes(Path(path), self.html.encode())


@dataclass(frozen=True)
class Edge:
    """A line from a hypothesis to what became of it."""

    begin: float
    end: float
    kind: str


@dataclass(frozen=True)
class Box:
    """A hypothesis as it is drawn."""

    node: HistoryNode
    kind: str
    """Its CSS classes."""


@dataclass(frozen=True)
class DrawnBeam:
    """A beam as it is drawn."""

    step: int
    heading: str
    boxes: list[Box]
    edges: list[Edge]
    dropped: Dropped | None
    rows: int


def draw_search(history: History, headings: Sequence[str] = (), key: str = "a") -> Markup:
    """The picture as a part of a page; `key` must be unique on the page."""
    columns = [column(history, step, headings) for step in range(len(history.beams))]
    rows = max(one.rows for one in columns)
    sizes = {"row": ROW, "gap": GAP, "head": HEAD, "height": HEAD + ROW * rows}
    right = history.least_cost is not None
    wide = box_width(history)
    return render("search.html", columns=columns, key=key, right=right, wide=wide, **sizes)


def box_width(history: History) -> float:
    """How wide boxes are: as the longest name needs it, within limits."""
    names = [node.name for beam in history.beams for node in beam]
    names += [dropped.node.name for dropped in history.drops]
    return round(min(MOST, max(LEAST, MARK + LETTER * max(map(cell_len, names)))), 1)


def column(history: History, step: int, headings: Sequence[str]) -> DrawnBeam:
    """A beam, with the lines that lead to it."""
    beam, winner = history.beams[step], history.winners[step]
    after = history.beams[step + 1] if step + 1 < len(history.beams) else None
    parents = {node.parent for node in after} if after is not None else set(range(len(beam)))
    dropped = next((one for one in history.drops if one.step == step), None)
    boxes = [
        Box(node, looks(history, node, place == winner, place in parents))
        for place, node in enumerate(beam)
    ]
    edges = [
        Edge(middle(node.parent), middle(place), "win" if place == winner else "")
        for place, node in enumerate(beam)
        if node.parent is not None
    ]
    if dropped is not None and dropped.node.parent is not None:
        edges.append(Edge(middle(dropped.node.parent), middle(len(beam)), "fall"))
    heading = headings[step - 1] if 0 < step <= len(headings) else ""
    return DrawnBeam(step, heading, boxes, edges, dropped, len(beam) + (dropped is not None))


def looks(history: History, node: HistoryNode, winner: bool, extended: bool) -> str:
    """The CSS classes of a hypothesis: did it win, can it be right, does it die here?"""
    found = {
        "win": winner,
        "right": history.can_be_best(node),
        "dead": not extended,
        "waits": not node.moved,
        "off": not node.kept,
    }
    return " ".join(name for name, seen in found.items() if seen)


def middle(place: int) -> float:
    """Where the line of a hypothesis begins and ends."""
    return HEAD + ROW * (place + 0.5)
