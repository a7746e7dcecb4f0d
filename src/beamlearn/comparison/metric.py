"""What is shown of each task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """A number of a report, and how to read it."""

    name: str
    label: str
    rate: bool = True
    """Is it a fraction, to be shown in percent?"""
    lower: bool = False
    """Is less better?"""

    def shown(self, value: float) -> str:
        """As a table has it.

        >>> Metric("las", "LAS").shown(0.89123)
        '89.12'
        """
        return f"{100 * value if self.rate else value:.2f}"

    @property
    def spoken(self) -> str:
        """The label as the subject of a sentence.

        >>> Metric("wer", "wrong outputs").spoken, Metric("las", "LAS").spoken
        ('the share of wrong outputs', 'LAS')
        """
        return SPOKEN.get(self.label, self.label)


SPOKEN = {"wrong outputs": "the share of wrong outputs"}
"""What labels that are plurals are called in sentences."""
COST = Metric("cost", "cost per example", rate=False, lower=True)
METRICS: dict[str, tuple[Metric, ...]] = {
    "tag": (Metric("f1", "span F1"), Metric("accuracy", "accuracy")),
    "parse": (Metric("las", "LAS"),),
    "transduce": (Metric("wer", "wrong outputs", lower=True),),
}
"""What matters most in each task: the first that its reports have."""


def main_metric(task: str, rows: Sequence[Mapping[str, Any]]) -> Metric:
    """What matters most in these reports; of a task that is not known, the cost."""
    known = METRICS.get(task, ())
    return next((metric for metric in known if all(metric.name in row for row in rows)), COST)
