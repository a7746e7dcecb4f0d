"""Lines against a common axis, each with its own color, marker and dashes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from .figure import PageFigure, canvas, plain
from .palette import THEMED, line_style


@dataclass(frozen=True)
class Point:
    """A value at a place."""

    x: float
    y: float
    tooltip: str
    """The tooltip."""
    spread: float | None = None
    """A standard deviation."""
    facts: dict[str, Any] = field(default_factory=dict)
    """More numbers for the download."""


@dataclass(frozen=True)
class Line:
    """Points that belong together."""

    label: str
    points: tuple[Point, ...]
    number: int = 0
    """Which color, marker and dashes it has; the same in every figure of a page."""
    best: int | None = None
    """The number of the point that is circled."""

    @property
    def finite(self) -> "Line":
        """The line without points that cannot be drawn."""
        kept = [i for i, point in enumerate(self.points) if isfinite(point.x + point.y)]
        best = kept.index(self.best) if self.best in kept else None
        return replace(self, points=tuple(self.points[i] for i in kept), best=best)


@dataclass(frozen=True)
class Axis:
    """What an axis measures."""

    name: str
    """The name in the data."""
    label: str
    """The label in the figure."""


def draw_lines(
    name: str,
    title: str,
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    prepare: Callable[[Any], None],
) -> PageFigure:
    """Draw lines where they are finite; `prepare` sets up the axes at the end."""
    lines = [one for line in lines if (one := line.finite).points]
    with canvas(name) as paper:
        for line in lines:
            places = [point.x for point in line.points]
            values = [point.y for point in line.points]
            style = line_style(line.number)
            if len(places) > 60:
                style |= {"markersize": 2.5}
            (drawn,) = paper.axes.plot(places, values, label=plain(line.label), **style)
            paper.mark(drawn, [point.tooltip for point in line.points])
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
        return paper.finish(title, rows_of(lines, x, y))


def rows_of(lines: Sequence[Line], x: Axis, y: Axis) -> list[dict[str, Any]]:
    """One row per point."""
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
    """Label the x axis with beam widths."""

    def prepare(axes: Any) -> None:
        from matplotlib.ticker import NullLocator

        axes.set_xscale("log", base=2)
        axes.set_xticks(list(widths), [str(width) for width in widths])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=0.06)

    return prepare


def from_zero(axes: Any) -> None:
    """Begin the y axis at 0, as for shares and counts, unless some value is negative."""
    if axes.dataLim.y0 >= 0:
        axes.set_ylim(bottom=0)
