"""Runs to look into, and what they do with an input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ...tasks.data import DataSet
from ...tasks.task import Model, TaskSpec
from .ask import Ask, AskError
from .look import Look, difference, look

LARGEST = 10_000
"""The length of an input times the width: what is searched and drawn while somebody waits."""


@final
@dataclass(frozen=True)
class Inspected:
    """A run, and the file to look at it with."""

    name: str
    task: TaskSpec[Any, Any, Any]
    model: Model
    width: int
    """Of the beam, unless another is asked for."""
    data: DataSet | None = None

    @property
    def size(self) -> int:
        """How many examples there are."""
        return 0 if self.data is None else len(self.data)

    def look(self, ask: Ask) -> Look:
        """What it does with the input that is asked for."""
        if ask.text is not None:
            subject = self.task.typed(self.model, ask.text, ask.right)
        elif ask.number is not None:
            subject = self.task.subject(self.model, self.data, ask.number)
        else:
            raise AskError("A sentence or a text must be given, but neither came; type an input.")
        length = len(subject.example)
        if length * ask.width > LARGEST:
            raise AskError(
                f"The length of an input times the width may be {LARGEST:,}, but {length:,} times "
                f"{ask.width} came; choose a smaller width or a shorter input.",
                413,
            )
        return look(self.task, self.model, subject, ask.width, ask.number or 0)


@final
@dataclass(frozen=True)
class Case:
    """An input, and what each run does with it."""

    title: str
    looks: dict[str, Look]
    """By the name of the run."""

    @property
    def difference(self) -> str | None:
        """Where two runs part."""
        return difference(self.looks) if len(self.looks) == 2 else None


def case(runs: Sequence[Inspected], ask: Ask) -> Case:
    """Look at an input with all runs."""
    size = runs[0].size
    title = "A typed input" if ask.number is None else f"Input {ask.number + 1:,} of {size:,}"
    return Case(title, {run.name: run.look(ask) for run in runs})
