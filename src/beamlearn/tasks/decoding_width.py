"""The width to decode with: measured on validation data when a training is over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..training.run import Policy, Run
from ..training.settings import Learning
from .data import DataSet, spread
from .task import Model, Report, TaskSpec

WIDTHS = (1, 2, 4, 8, 16)
"""The widths to measure, beside that of training."""
TOLERANCE = 0.01
"""A loss that is larger by no more than this share is no reason for a wider beam."""
LEAST, MOST, SHARE = 50, 1000, 80
"""As many validation examples are searched at each width as one in `SHARE` that the training has
seen, within these limits. All widths together take as long as training by likelihood on four
times as many examples, about."""


@dataclass(frozen=True)
class MeasuredWidths:
    """How good a model is with beams of several widths, on the same validation examples."""

    reports: Sequence[Report]
    """In the order of their widths."""
    losses: Mapping[int, float]
    """What the best epoch is chosen by, at each width; less is better."""
    trained: int
    """The width of the beam in training."""
    examples: int
    """The number of validation examples that were searched."""

    @property
    def best(self) -> int:
        """The width to decode with."""
        return smallest_good_width(self.losses, self.trained)

    def to_json(self) -> dict[str, Any]:
        """What a run folder keeps: nothing that differs from one machine's day to another."""
        losses = {str(width): loss for width, loss in self.losses.items()}
        return {"width": self.best, "examples": self.examples, "losses": losses}


def smallest_good_width(losses: Mapping[int, float], trained: int) -> int:
    """The smallest width, from that of training on, with about the lowest loss of those.

    About: larger by 1 % of it at most. A narrower beam than in training is never chosen, as the
    model learned to rely on its beam, and confidences and n-best lists are read off it.

    >>> smallest_good_width({1: 0.2, 2: 0.151, 4: 0.15, 8: 0.149}, trained=1)
    4
    >>> smallest_good_width({1: 0.1, 8: 0.2, 16: 0.2}, trained=8)
    8
    """
    wide = {width: loss for width, loss in losses.items() if width >= trained}
    enough = min(wide.values()) * (1 + TOLERANCE)
    return min(width for width, loss in wide.items() if loss <= enough)


def measure_widths(
    task: TaskSpec[Any, Any, Any],
    model: Model,
    validation: DataSet,
    learning: Learning,
    *,
    seen: int,
    narrower: bool = True,
) -> MeasuredWidths | None:
    """Decode validation examples at several widths; a sample if there are many.

    `seen` is the number of examples in all rounds of the training, which limits the sample. Widths
    `narrower` than that of training are measured for people to see. None where `final_width` is
    above 1: the beam is then as wide as the list needs.
    """
    if learning.final_width > 1:
        return None
    trained = learning.decoding_width
    data = validation.take(spread(len(validation), min(MOST, max(LEAST, seen // SHARE))))
    widths = sorted({*WIDTHS, trained}) if narrower else sorted({trained, *wider_than(trained)})
    reports = [task.report(model, data, width) for width in widths]
    losses = {one.width: loss_of(task, model, one) for one in reports}
    return MeasuredWidths(reports, losses, trained, len(data))


def loss_of(task: TaskSpec[Any, Any, Any], model: Model, report: Report) -> float:
    """What the best epoch is chosen by, of a report."""
    row = report.to_json()
    scores = {metric: float(row[metric.name]) for metric in task.metrics if metric.name in row}
    return task.validation_loss(model, report.evaluation, scores)


def wider_than(width: int) -> list[int]:
    """The widths to measure above `width`."""
    return [wider for wider in WIDTHS if wider > width]


def measured_width(path: str | Path, policy: Policy = "best") -> int | None:
    """The width that a run folder says to decode with; None if it was not measured.

    That is the width of the best model. The other policies are those that certificates speak of,
    with the beam of training.
    """
    found = Run.open(path).load_decoding() if policy == "best" else None
    return None if found is None else int(found["width"])


def default_width(path: str | Path, learning: Learning, policy: Policy = "best") -> int:
    """The width to decode with where none is given: as measured, or else that of training."""
    found = measured_width(path, policy)
    return learning.decoding_width if found is None else found
