"""A picture of dependency trees: arcs above the words for the right tree, below for the output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from rich.cells import cell_len

from ..tasks.task import Arcs
from .pages import Markup, render

CELL, GAP, LEAST = 9, 22, 46
"""Pixels: the width of a letter, the room between words, and the least width of a word."""
LEVEL, HEAD, LINE = 26, 16, 30
"""Pixels: the height of a level of arcs, the room at the edge, and the height of the words."""
BESIDE, CORNER = 6, 8
"""Pixels: how far beside the middle of a head its arcs begin, and the radius of corners."""


@final
@dataclass(frozen=True)
class DrawnArc:
    """An arc as it is drawn."""

    path: str
    tip: str
    """The corners of the head of the arrow."""
    x: float
    y: float
    """The middle of its relation."""
    relation: str
    title: str
    head_differs: bool
    differs: bool
    """Does the head or the relation differ from that of the other tree?"""


@final
@dataclass(frozen=True)
class DrawnWord:
    """A word as it is drawn."""

    text: str
    x: float


def draw_trees(words: Sequence[str], right: Arcs | None, output: Arcs) -> Markup:
    """The picture; without a right tree, only the output is drawn."""
    centers, width = placed(words, output if right is None else [*right, *output])
    above = [] if right is None else levels(right)
    below = levels(output)
    top = HEAD + LEVEL * max(above, default=0) if right is not None else 4
    bottom = top + LINE
    height = bottom + LEVEL * max(below, default=0) + HEAD
    arcs = arcs_of(words, output, right, below, centers, bottom, down=True)
    if right is not None:
        arcs += arcs_of(words, right, output, above, centers, top, down=False)
    return render(
        "trees.html",
        words=[DrawnWord(word, x) for word, x in zip(words, centers, strict=True)],
        arcs=arcs,
        line=top + LINE / 2,
        width=width,
        height=height,
        both=right is not None,
    )


def placed(words: Sequence[str], arcs: Arcs) -> tuple[list[float], float]:
    """The middle of each word, far enough apart for its text and its relations; and their end."""
    sizes = []
    for at, word in enumerate(words):
        texts = [word, *(relation for _, relation in arcs[at :: len(words)])]
        sizes.append(max(LEAST, CELL * max(map(cell_len, texts))))
    centers, x = [], float(GAP)
    for size in sizes:
        centers.append(x + size / 2)
        x += size + GAP
    return centers, x


def levels(arcs: Arcs) -> list[int]:
    """How high each arc is, so that none lies on another: those inside are lower.

    >>> levels([(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj")])
    [1, 1, 2, 1]
    """
    found = [0] * len(arcs)
    spans = [(min(head, at), max(head, at)) for at, (head, _) in enumerate(arcs, 1)]
    inner = [at for at, (head, _) in enumerate(arcs) if head > 0]
    for at in sorted(inner, key=lambda at: spans[at][1] - spans[at][0]):
        first, last = spans[at]
        crossed = (found[i] for i in inner if spans[i][0] < last and first < spans[i][1])
        found[at] = 1 + max(crossed)
    top = 1 + max(found, default=0)
    return [top if head == 0 else level for (head, _), level in zip(arcs, found, strict=True)]


def arcs_of(
    words: Sequence[str],
    arcs: Arcs,
    others: Arcs | None,
    heights: Sequence[int],
    centers: Sequence[float],
    base: float,
    *,
    down: bool,
) -> list[DrawnArc]:
    """The arcs of one tree, away from the words at `base`; `others` are those of the other tree."""
    way = 1 if down else -1
    found = []
    for at, (head, relation) in enumerate(arcs):
        if head < 0:
            continue
        end, y = centers[at], base + way * LEVEL * heights[at]
        path, middle = f"M{end} {y}V{base}", end
        title = f"{relation}: {words[at]}"
        if head > 0:
            side = 1 if end > centers[head - 1] else -1
            start = centers[head - 1] + side * BESIDE
            turn, middle = side * CORNER, (start + end) / 2
            path = (
                f"M{start} {base}V{y - way * CORNER}Q{start} {y} {start + turn} {y}"
                f"H{end - turn}Q{end} {y} {end} {y - way * CORNER}V{base}"
            )
            title = f"{relation}: {words[head - 1]} → {words[at]}"
        found.append(
            DrawnArc(
                path,
                f"{end - 3.5},{base + way * 7} {end + 3.5},{base + way * 7} {end},{base}",
                middle,
                y + way * (11 if down else 4),
                relation,
                title,
                others is not None and others[at][0] != head,
                others is not None and tuple(others[at]) != (head, relation),
            )
        )
    return found
