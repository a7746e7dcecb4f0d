"""Runs to inspect, and what they do with an input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ...tasks.data import DataSet
from ...tasks.task import Kind, Model
from .ask import Ask, AskError
from .look import Look, difference, look

LARGEST = 10_000
"""The largest product of input length and width: larger searches take too long for a web page."""


@final
@dataclass(frozen=True)
class Inspected:
    """A run, and the file that its inputs are from."""

    name: str
    kind: Kind[Any, Any, Any]
    model: Model
    width: int
    """Of the beam, unless another is asked for."""
    data: DataSet | None = None

    @property
    def size(self) -> int:
        """How many examples there are."""
        return 0 if self.data is None else len(self.data)

    def look(self, ask: Ask) -> Look:
        """Search the requested input."""
        if ask.text is not None:
            subject = self.kind.typed(self.model, ask.text, ask.right)
        elif ask.number is not None:
            subject = self.kind.subject(self.model, self.data, ask.number)
        else:
            raise AskError("`sentence` or `text` must be given, got neither; type an input.")
        length = len(subject.example)
        if length * ask.width > LARGEST:
            raise AskError(
                f"The length of an input times `width` must be at most {LARGEST:,}, got {length:,} "
                f"times {ask.width}; choose a smaller width or a shorter input.",
                413,
            )
        return look(self.kind, self.model, subject, ask.width, ask.number or 0)


@final
@dataclass(frozen=True)
class Case:
    """An input, and what each run does with it."""

    title: str
    looks: dict[str, Look]
    """By the name of the run."""

    @property
    def difference(self) -> str | None:
        """Where two runs begin to differ."""
        return difference(self.looks) if len(self.looks) == 2 else None


def case(runs: Sequence[Inspected], ask: Ask) -> Case:
    """Search an input with all runs."""
    size = runs[0].size
    title = "A typed input" if ask.number is None else f"Input {ask.number + 1:,} of {size:,}"
    return Case(title, {run.name: run.look(ask) for run in runs})
