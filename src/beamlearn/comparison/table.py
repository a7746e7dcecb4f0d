"""The table of a comparison."""

from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from ..plural import counted
from .results import Comparison, PairedTest

LEVELS = {2: 0.01, 1: 0.05}
"""How many marks a p-value below each level gets."""


@dataclass(frozen=True)
class Shown:
    """A number of the table."""

    text: str
    """Mean and standard deviation; nothing if no training is finished."""
    best: bool
    """Is no other one at this width better?"""
    mark: str
    """Is it better or worse than the baseline, and how surely?"""


def shown(comparison: Comparison) -> dict[str, list[Shown]]:
    """Every cell with its numbers, test width by test width."""
    metric = comparison.metric
    means = {
        (cell, width): mean(values)
        for cell in comparison.cells
        for width in comparison.widths
        if (values := comparison.values(cell, width))
    }
    best = {
        width: (min if metric.lower else max)(
            (value for (_, at), value in means.items() if at == width), default=None
        )
        for width in comparison.widths
    }

    def show(cell: str, width: int) -> Shown:
        values = comparison.values(cell, width)
        if not values:
            return Shown("", best=False, mark="")
        spread = f" ± {metric.shown(stdev(values))}" if len(values) > 1 else ""
        return Shown(
            metric.shown(means[cell, width]) + spread,
            best=means[cell, width] == best[width],
            mark=mark(comparison.test_of(cell, width)),
        )

    return {cell: [show(cell, width) for width in comparison.widths] for cell in comparison.cells}


def mark(test: PairedTest | None) -> str:
    """Pluses where a cell costs less than the baseline, minuses where it costs more.

    >>> mark(PairedTest("bso-8", 8, difference=-0.2, p=0.001, adjusted=0.003))
    '++'
    """
    if test is None:
        return ""
    count = next((marks for marks, level in LEVELS.items() if test.adjusted < level), 0)
    return ("+" if test.difference < 0 else "-") * count


def markdown(comparison: Comparison) -> str:
    """The table, what it means, and the p-values."""
    heads = ["trained", *(f"beam {width}" for width in comparison.widths)]
    lines = [heads, ["---", *["---:"] * len(comparison.widths)]]
    for cell, numbers in shown(comparison).items():
        bold = (f"**{one.text}**" if one.best else one.text for one in numbers)
        marked = (f"{text} {one.mark}".strip() for text, one in zip(bold, numbers, strict=True))
        lines.append([cell, *marked])
    parts = [grid(lines), words(comparison)]
    if comparison.tests:
        parts.append(p_values(comparison))
    if comparison.failed:
        parts.append(
            "Not finished:\n\n"
            + "\n".join(f"- {name}: {reason}" for name, reason in comparison.failed.items())
        )
    return "\n\n".join(parts) + "\n"


def words(comparison: Comparison) -> str:
    """What the table shows, in words."""
    metric, seeds = comparison.metric, comparison.seeds
    unit = " in percent" if metric.rate else ""
    over = f", mean ± standard deviation over {seeds} seeds" if seeds > 1 else ", one seed"
    text = (
        f"Shown is {metric.spoken}{unit} on {Path(comparison.test).name} "
        f"({counted(comparison.examples, 'example')}){over}; "
        f"{'less' if metric.lower else 'more'} is better, and the best of each column is bold. A "
        "line is named by how it was trained and by the width of the beam in "
        "training; columns are widths in testing."
    )
    if not comparison.tests:
        return text
    return (
        f"{text}\n\n`+` costs less than {comparison.baseline} at the same width in testing with "
        "p < 0.05, `++` with p < 0.01; `-` and `--` cost more. The p-values are those of a paired "
        "sign-flip test on the costs of the examples, averaged over the seeds, after Holm's "
        "correction over the lines of a column."
    )


def p_values(comparison: Comparison) -> str:
    """Every test against the baseline."""
    lines = [
        ["trained", "beam", f"cost above {comparison.baseline}", "p", "p, corrected"],
        ["---", *["---:"] * 4],
    ]
    for test in comparison.tests:
        numbers = [f"{test.difference:+.4f}", f"{test.p:.4f}", f"{test.adjusted:.4f}"]
        lines.append([test.cell, str(test.width), *numbers])
    return grid(lines)


def grid(lines: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
