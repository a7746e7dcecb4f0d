"""Learning curves, from the log of a training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..plural import counted
from .figure import PageFigure
from .lines import Axis, Line, Point, draw_lines, from_zero
from .section import Section
from .wording import listed, percent

WINDOWS = 100
"""About how many windows the rounds are averaged in."""
ROUND, EPOCH = Axis("round", "round"), Axis("epoch", "epoch")
VALIDATION = Axis("validation_cost", "validation cost per example")


@dataclass(frozen=True)
class Log:
    """The log of a run."""

    rounds: tuple[Mapping[str, Any], ...]
    validations: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> "Log":
        """Separate rounds and validations."""
        lines = list(records)
        return cls(
            tuple(line for line in lines if "examples" in line),
            tuple(line for line in lines if "validation_cost" in line),
        )

    @property
    def best(self) -> int | None:
        """The number of the validation whose weights are kept: the last that was best."""
        best = [place for place, line in enumerate(self.validations) if line["best"]]
        return best[-1] if best else None


def lowest(costs: Sequence[float]) -> int | None:
    """The place of the lowest finite cost; the first of equals.

    >>> lowest([float("nan"), 2.0, 1.0, 1.0])
    2
    """
    finite = [place for place, cost in enumerate(costs) if isfinite(cost)]
    return min(finite, key=lambda place: costs[place], default=None)


def learning_curves(log: Log) -> Section | None:
    """The section for one run."""
    figures, sentences = [], []
    if log.rounds:
        size = -(-len(log.rounds) // WINDOWS)
        windows = [log.rounds[i : i + size] for i in range(0, len(log.rounds), size)]
        sentences.append(falling(log, size))
        figures += [
            curve("loss", "Loss per example", "loss per example", windows),
            curve("increases", "Cost increases per example", "cost increases per example", windows),
        ]
        if "likelihood_loss" in log.rounds[0]:
            title = "Loss of the right outputs (minus their log-likelihood) per example"
            figures.append(curve("likelihood_loss", title, "loss per example", windows))
        shares = [mean(window, "on_policy") for window in windows]
        if min(shares) < 1:
            title = "Trajectories that follow the learned policy"
            figures.append(curve("on_policy", title, "share of the examples", windows))
            sentences.append(
                f"At the start, {percent(shares[0])} of the trajectories followed the learned "
                f"policy all the way; at the end, {percent(shares[-1])} did."
            )
    if log.best is not None:
        sentences.append(validated(log))
    if log.best is not None and len(log.validations) > 1:
        points = tuple(validation_point(line) for line in log.validations)
        lines = [Line("validation", points, best=log.best)]
        figures.append(by_epoch("Cost on the validation set; the best epoch is circled", lines))
    return (
        Section("learning", "Learning curves", tuple(sentences), tuple(figures))
        if figures
        else None
    )


def curve(
    name: str, title: str, label: str, windows: Sequence[Sequence[Mapping[str, Any]]]
) -> PageFigure:
    """A number of the rounds, averaged in windows."""
    points = []
    for window in windows:
        first, last, found = window[0]["round"], window[-1]["round"], mean(window, name)
        rounds = f"round {first}" if first == last else f"rounds {first} to {last}"
        points.append(Point((first + last) / 2, found, f"{rounds}: {label} {found:.4g}"))
    axis = Axis(name, label)
    line = Line("training", tuple(points))
    return draw_lines(f"curve-{name}", title, [line], ROUND, axis, prepare=from_zero)


def mean(window: Sequence[Mapping[str, Any]], name: str) -> float:
    """The mean over the examples of some rounds."""
    examples = sum(line["examples"] for line in window)
    return float(sum(line["examples"] * line[name] for line in window) / examples)


def falling(log: Log, size: int) -> str:
    """The loss and the cost increases at the beginning and at the end."""
    each = "Each point is a round" if size == 1 else f"Each point is the mean of {size} rounds"
    (begun, first), (ended, last) = ends(log)
    return (
        f"{each}. From {begun} to {ended}, the loss per example went from "
        f"{mean(first, 'loss'):.4g} to {mean(last, 'loss'):.4g}, and the number of steps per "
        f"example at which the learned policy raises the cost went from "
        f"{mean(first, 'increases'):.3g} to {mean(last, 'increases'):.3g}."
    )


def ends(log: Log) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """The first and the last epoch, which have the same examples; else tenths of the rounds."""
    last = [line["round"] for line in log.validations]
    if len(last) > 1:
        spans = {"the first epoch": (0, last[0]), "the last": (last[-2], last[-1])}
        epochs = {
            name: [line for line in log.rounds if after < line["round"] <= upto]
            for name, (after, upto) in spans.items()
        }
        if all(epochs.values()):
            return list(epochs.items())
    tenth = -(-len(log.rounds) // 10)
    return [
        ("the first tenth of the rounds", log.rounds[:tenth]),
        ("the last", log.rounds[-tenth:]),
    ]


def validated(log: Log) -> str:
    """The best epoch, and whether more epochs may help."""
    assert log.best is not None
    costs = [line["validation_cost"] for line in log.validations]
    epoch, found = log.validations[log.best]["epoch"], costs[log.best]
    if len(costs) == 1:
        return f"There was one validation, with a cost of {found:.4g} per example."
    after = (
        "that is the last epoch, so more epochs may help"
        if log.best == len(costs) - 1
        else f"after the last epoch it is {costs[-1]:.4g}"
    )
    return (
        f"The model is that of epoch {epoch}, whose cost on the validation set is {found:.4g}; "
        f"{after}."
    )


def validation_point(line: Mapping[str, Any]) -> Point:
    """A validation."""
    epoch, cost = line["epoch"], line["validation_cost"]
    return Point(epoch, cost, f"epoch {epoch}: validation cost {cost:.4g}")


def by_epoch(title: str, lines: Sequence[Line]) -> PageFigure:
    """Validation costs."""

    def prepare(axes: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.margins(0.08)

    return draw_lines("validation", title, lines, EPOCH, VALIDATION, prepare=prepare)


def compared_curves(logs: Mapping[str, Sequence[Log]]) -> Section | None:
    """The section for a comparison: the mean over the seeds of each cell, epoch by epoch."""
    lines = []
    for number, (cell, several) in enumerate(logs.items()):
        epochs = min((len(log.validations) for log in several), default=0)
        rows = [[log.validations[i] for log in several] for i in range(epochs)]
        points = tuple(mean_point(cell, row) for row in rows)
        line = Line(cell, points, number, best=lowest([point.y for point in points]))
        if line.best is not None:
            lines.append(line)
    if not lines:
        return None
    sentences = [least(lines)]
    if long := [line for line in lines if len(line.points) > 1]:
        sentences.append(unfinished(long))
    title = "Cost on the validation set, mean over seeds; best epochs are circled"
    figure = by_epoch(title, lines)
    return Section("learning", "Learning curves", tuple(sentences), (figure,))


def least(lines: Sequence[Line]) -> str:
    """Which ways to train have the lowest validation cost, as it is displayed."""
    costs = {line.label: line.points[line.best or 0].y for line in lines}
    cost = f"{min(costs.values()):.4g}"
    cells = [cell for cell, found in costs.items() if f"{found:.4g}" == cost]
    return (
        f"The lowest mean cost on the validation set is {cost} per example, with {listed(cells)}."
    )


def unfinished(lines: Sequence[Line]) -> str:
    """How many ways to train, each with several epochs, were best after the last epoch."""
    late = sum(line.best == len(line.points) - 1 for line in lines)
    ways = f"Of {counted(len(lines), 'way')} to train for several epochs"
    if late == 0:
        return f"{ways}, none was best after its last epoch."
    return (
        f"{ways}, {late} {'was' if late == 1 else 'were'} best after the last epoch, so more "
        "epochs may help."
    )


def mean_point(cell: str, row: Sequence[Mapping[str, Any]]) -> Point:
    """The same epoch of several seeds."""
    cost, epoch = sum(one["validation_cost"] for one in row) / len(row), row[0]["epoch"]
    return Point(epoch, cost, f"{cell}, epoch {epoch}: validation cost {cost:.4g}")
