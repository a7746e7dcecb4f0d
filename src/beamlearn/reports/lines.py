"""Lines against a common axis, each with its own color, marker and dashes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from .figure import Drawn, canvas, plain
from .palette import THEMED, look


@dataclass(frozen=True)
class Point:
    """A value at a place."""

    x: float
    y: float
    told: str
    """What it says to who points at it."""
    spread: float | None = None
    """A standard deviation."""
    facts: dict[str, Any] = field(default_factory=dict)
    """More numbers for who downloads."""


@dataclass(frozen=True)
class Line:
    """Points that belong together."""

    label: str
    points: tuple[Point, ...]
    number: int = 0
    """Which color, marker and dashes it has; the same in every figure of a page."""
    best: int | None = None
    """The number of the point that is set off from the others."""

    @property
    def finite(self) -> "Line":
        """Without points that no figure has a place for."""
        kept = [i for i, point in enumerate(self.points) if isfinite(point.x + point.y)]
        best = kept.index(self.best) if self.best in kept else None
        return replace(self, points=tuple(self.points[i] for i in kept), best=best)


@dataclass(frozen=True)
class Axis:
    """What is measured along a side."""

    name: str
    """In the data."""
    label: str
    """In the figure."""


def draw_lines(
    name: str,
    title: str,
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    prepare: Callable[[Any], None],
) -> Drawn:
    """Draw lines, as far as they are finite; `prepare` has the last word on the axes."""
    lines = [one for line in lines if (one := line.finite).points]
    with canvas(name) as paper:
        for line in lines:
            places = [point.x for point in line.points]
            values = [point.y for point in line.points]
            style = look(line.number)
            if len(places) > 60:
                style |= {"markersize": 2.5}
            (drawn,) = paper.axes.plot(places, values, label=plain(line.label), **style)
            paper.mark(drawn, [point.told for point in line.points])
            spreads = [point.spread or 0.0 for point in line.points]
            if any(spreads):
                ends = (
                    [v + s * sign for v, s in zip(values, spreads, strict=True)] for sign in (-1, 1)
                )
                paper.axes.vlines(places, *ends, color=style["color"], linewidth=0.8, alpha=0.7)
            if line.best is not None:
                paper.axes.plot(
                    *([one[line.best]] for one in (places, values)),
                    marker="o",
                    markersize=11,
                    markerfacecolor="none",
                    markeredgecolor=THEMED.ink,
                    linestyle="none",
                )
        paper.axes.set_xlabel(x.label)
        paper.axes.set_ylabel(y.label)
        prepare(paper.axes)
        if len(paper.axes.get_legend_handles_labels()[1]) > 1:
            paper.legend()
        return paper.drawn(title, rows_of(lines, x, y))


def rows_of(lines: Sequence[Line], x: Axis, y: Axis) -> list[dict[str, Any]]:
    """The points, one a row."""
    return [
        {
            "line": line.label,
            x.name: point.x,
            y.name: point.y,
            **({} if point.spread is None else {"deviation": point.spread}),
            **point.facts,
        }
        for line in lines
        for point in line.points
    ]


def at_widths(widths: Sequence[int]) -> Callable[[Any], None]:
    """Let an axis have widths of the beam."""

    def prepare(axes: Any) -> None:
        from matplotlib.ticker import NullLocator

        axes.set_xscale("log", base=2)
        axes.set_xticks(list(widths), [str(width) for width in widths])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=0.06)

    return prepare


def from_zero(axes: Any) -> None:
    """Let an axis begin at 0, as shares and counts do, unless something is below."""
    if axes.dataLim.y0 >= 0:
        axes.set_ylim(bottom=0)
