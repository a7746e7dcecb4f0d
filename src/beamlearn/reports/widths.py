"""Quality by the width of the beam in testing, and by the widths in training and testing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from ..evaluation.metric import Metric
from .figure import PageFigure, canvas, plain
from .lines import Axis, Line, Point, at_widths, draw_lines
from .palette import THEMED
from .section import Section
from .wording import alike, best_of, better, capital, value

Values = Mapping[str, Mapping[int, Sequence[float]]]
"""The metric of each seed, by way to train and width in testing."""
WIDTH = Axis("width", "beam width in testing")
OPAQUE = 0.5
"""How opaque the best field of a grid is; numbers must be readable on it."""


def against_width(values: Values, metric: Metric, sentences: Sequence[str]) -> Section | None:
    """Lines of quality, one for each way to train."""
    widths = sorted({width for by_width in values.values() for width in by_width})
    if len(widths) < 2:
        return None
    lines = []
    for number, (cell, by_width) in enumerate(values.items()):
        points = []
        for width, each in sorted(by_width.items()):
            spread = stdev(each) if len(each) > 1 else None
            around = "" if spread is None else f" ± {metric.shown(spread)}"
            text = f"{cell}, beam {width}: {metric.label} {value(metric, mean(each))}{around}"
            scale = 100 if metric.rate else 1
            points.append(
                Point(width, scale * mean(each), text, None if spread is None else scale * spread)
            )
        if points:
            lines.append(Line(cell, tuple(points), number))
    label = f"{metric.label} (%)" if metric.rate else metric.label
    way = "lower" if metric.lower else "higher"
    title = f"{capital(metric.label)} by beam width in testing ({way} is better)"
    figure = draw_lines(
        "widths", title, lines, WIDTH, Axis(metric.name, label), prepare=at_widths(widths)
    )
    return Section("widths", "Does a wider beam help?", tuple(sentences), (figure,))


@dataclass(frozen=True)
class WidthGrid:
    """One row of Table 1, trained at several widths."""

    name: str
    cells: Mapping[str, str]
    """The width in training of each."""


def grids_of(rows: Sequence[Mapping[str, Any]]) -> list[WidthGrid]:
    """The pairs of a strategy and a loss that were trained at several widths."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        found[f"{row['strategy']} with {row['loss']}"][row["cell"]] = row["trained_width"]
    return [
        WidthGrid(name, dict(sorted(cells.items(), key=lambda one: ramp(one[1]))))
        for name, cells in found.items()
        if len(cells) > 1
    ]


def ramp(width: str) -> tuple[int, ...]:
    """A width in training, or the last and the first of several."""
    return tuple(int(part) for part in reversed(width.split(":")))


def both_widths(values: Values, metric: Metric, grids: Sequence[WidthGrid]) -> Section | None:
    """A grid for each row that was trained at several widths."""
    figures, sentences = [], []
    for number, grid in enumerate(grids):
        known = {
            (cell, width): mean(each)
            for cell in grid.cells
            for width, each in values.get(cell, {}).items()
        }
        if not known:
            continue
        figures.append(draw_grid(f"grid{number}", grid, known, metric))
        sentences.append(best_field(grid, known, metric))
    if not figures:
        return None
    return Section("grid", "Width in training and in testing", tuple(sentences), tuple(figures))


def best_field(grid: WidthGrid, known: Mapping[tuple[str, int], float], metric: Metric) -> str:
    """Where a grid is best, and whether that is where both widths are the same."""
    (cell, width), *others = best_of(metric, known)
    trained = ramp(grid.cells[cell])[0]
    relation = (
        "the width it was trained with"
        if width == trained
        else f"{'wider' if width > trained else 'narrower'} than the {trained} it was trained with"
    )
    return (
        f"Of {grid.name}, {cell} is best with a beam of {width}, {relation}{alike(len(others))}: "
        f"{metric.label} {value(metric, known[cell, width])}."
    )


def draw_grid(
    name: str, grid: WidthGrid, known: Mapping[tuple[str, int], float], metric: Metric
) -> PageFigure:
    """Fields with their numbers; better ones have more color."""
    from matplotlib.patches import Rectangle

    widths = sorted({width for _, width in known})
    cells = list(grid.cells)
    low, high = min(known.values()), max(known.values())
    with canvas(name, height=0.9 + 0.42 * len(cells)) as paper:
        axes = paper.axes
        axes.grid(visible=False)
        for (cell, width), found in known.items():
            x, y = widths.index(width), cells.index(cell)
            rank = 0.5 if high == low else (found - low) / (high - low)
            rank = 1 - rank if metric.lower else rank
            field = Rectangle(
                (x - 0.5, y - 0.5), 1, 1, facecolor=THEMED.blue, alpha=0.04 + OPAQUE * rank
            )
            axes.add_patch(field)
            text = f"{cell}, beam {width}: {metric.label} {value(metric, found)}"
            paper.mark(field, [text])
            best = not any(better(metric, other, found) for other in known.values())
            axes.text(
                *(x, y, metric.shown(found)),
                ha="center",
                va="center",
                weight="bold" if best else "normal",
            )
        axes.set_xlim(-0.5, len(widths) - 0.5)
        axes.set_ylim(len(cells) - 0.5, -0.5)
        axes.set_xticks(range(len(widths)), [str(width) for width in widths])
        axes.set_yticks(range(len(cells)), [plain(grid.cells[cell]) for cell in cells])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(WIDTH.label)
        axes.set_ylabel("in training")
        rows = [
            {"line": cell, "trained_width": grid.cells[cell], "width": width, metric.name: found}
            for (cell, width), found in known.items()
        ]
        unit = " in percent" if metric.rate else ""
        return paper.finish(
            f"{capital(metric.label)}{unit}, {grid.name}: more color is better", rows
        )
