"""Runs to inspect, and what they do with an input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ...tasks.data import DataSet
from ...tasks.task import Model, TaskSpec
from .inspected_search import InspectedSearch, difference, inspect_search
from .request import InputRequest, RequestError

LARGEST = 10_000
"""The largest product of input length and width: larger searches take too long for a web page."""


@final
@dataclass(frozen=True)
class InspectedRun:
    """A run, and the file that its inputs are from."""

    name: str
    task: TaskSpec[Any, Any, Any]
    model: Model
    width: int
    """Of the beam, unless another is requested."""
    data: DataSet | None = None

    @property
    def size(self) -> int:
        """How many examples there are."""
        return 0 if self.data is None else len(self.data)

    def inspect(self, request: InputRequest) -> InspectedSearch:
        """Search the requested input."""
        if request.text is not None:
            subject = self.task.typed(self.model, request.text, request.right)
        elif request.number is not None:
            subject = self.task.subject(self.model, self.data, request.number)
        else:
            raise RequestError("`sentence` or `text` must be given, got neither; type an input.")
        length = len(subject.example)
        if length * request.width > LARGEST:
            raise RequestError(
                f"The length of an input times `width` must be at most {LARGEST:,}, got {length:,} "
                f"times {request.width}; choose a smaller width or a shorter input.",
                413,
            )
        return inspect_search(self.task, self.model, subject, request.width, request.number or 0)


@final
@dataclass(frozen=True)
class InspectedInput:
    """An input, and what each run does with it."""

    title: str
    searches: dict[str, InspectedSearch]
    """By the name of the run."""

    @property
    def difference(self) -> str | None:
        """Where two runs begin to differ."""
        return difference(self.searches) if len(self.searches) == 2 else None


def inspect_input(runs: Sequence[InspectedRun], request: InputRequest) -> InspectedInput:
    """Search an input with all runs."""
    size = runs[0].size
    title = (
        "A typed input" if request.number is None else f"Input {request.number + 1:,} of {size:,}"
    )
    return InspectedInput(title, {run.name: run.inspect(request) for run in runs})
