"""A picture of a search: beams as columns, hypotheses as rows that fork and die."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import final

from . import atomic
from .chronicle import Chronicle, Fall, Node
from .pages import Markup, render

ROW, GAP, HEAD = 46, 44, 34
"""Pixels: the height of a row, the room for edges between beams, the height of a heading."""


@final
@dataclass(frozen=True)
class Drawing:
    """A search to look at: a notebook shows it, `write` keeps it as a page of its own."""

    chronicle: Chronicle
    title: str = "A beam search"
    headings: tuple[str, ...] = ()
    """What each step decides on, where that is known."""

    @cached_property
    def html(self) -> str:
        """A page that stands alone."""
        drawn = lattice(self.chronicle, self.headings)
        return str(render("drawing.html", title=self.title, lattice=drawn))

    def _repr_html_(self) -> str:
        """The page in a frame, so that neither it nor the notebook changes the other's looks."""
        rows = max(map(len, self.chronicle.beams)) + bool(self.chronicle.falls)
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

    node: Node
    kind: str
    """Names of its looks."""


@dataclass(frozen=True)
class Column:
    """A beam as it is drawn."""

    step: int
    heading: str
    boxes: list[Box]
    edges: list[Edge]
    fall: Fall | None
    rows: int


def lattice(chronicle: Chronicle, headings: Sequence[str] = (), key: str = "a") -> Markup:
    """The picture as a part of a page; `key` tells several on one page apart."""
    columns = [column(chronicle, step, headings) for step in range(len(chronicle.beams))]
    rows = max(one.rows for one in columns)
    sizes = {"row": ROW, "gap": GAP, "head": HEAD, "height": HEAD + ROW * rows}
    right = chronicle.least_cost is not None
    return render("lattice.html", columns=columns, key=key, right=right, **sizes)


def column(chronicle: Chronicle, step: int, headings: Sequence[str]) -> Column:
    """A beam, with the lines that lead to it."""
    beam, winner = chronicle.beams[step], chronicle.winners[step]
    after = chronicle.beams[step + 1] if step + 1 < len(chronicle.beams) else None
    parents = {node.parent for node in after} if after is not None else set(range(len(beam)))
    fall = next((one for one in chronicle.falls if one.step == step), None)
    boxes = [
        Box(node, looks(chronicle, node, place == winner, place in parents))
        for place, node in enumerate(beam)
    ]
    edges = [
        Edge(middle(node.parent), middle(place), "win" if place == winner else "")
        for place, node in enumerate(beam)
        if node.parent is not None
    ]
    if fall is not None and fall.lost.parent is not None:
        edges.append(Edge(middle(fall.lost.parent), middle(len(beam)), "fall"))
    heading = headings[step - 1] if 0 < step <= len(headings) else ""
    return Column(step, heading, boxes, edges, fall, len(beam) + (fall is not None))


def looks(chronicle: Chronicle, node: Node, winner: bool, extended: bool) -> str:
    """What is to be seen of a hypothesis: did it win, can it be right, does it die here?"""
    found = {
        "win": winner,
        "right": chronicle.best(node),
        "dead": not extended,
        "waits": not node.moved,
        "off": not node.kept,
    }
    return " ".join(name for name, seen in found.items() if seen)


def middle(place: int) -> float:
    """Where the line of a hypothesis begins and ends."""
    return HEAD + ROW * (place + 0.5)
