"""Metric: a number of a report, and how to read it."""

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
"""What every task has."""


def main_metric(known: Sequence[Metric], rows: Sequence[Mapping[str, Any]]) -> Metric:
    """The first of the `known` metrics that all reports have; if none, the cost."""
    return next((metric for metric in known if all(metric.name in row for row in rows)), COST)
