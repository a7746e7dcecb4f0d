"""Walk through the inputs of a file whose outputs could be better."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import final

from ...evaluation.wrong_examples import ErrorKind, wrong_examples
from ...tasks.decoding import evaluated
from .inspected_run import InspectedRun


@final
@dataclass(frozen=True)
class ErrorWalk:
    """The errors of a kind, at one width of the beam."""

    kind: ErrorKind
    width: int
    numbers: tuple[int, ...]
    """The places of the inputs in the file, from 0, in their order."""
    examples: int
    """How many inputs there are."""

    @property
    def name(self) -> str:
        """What one of them is called."""
        return "error" if self.kind == "any" else f"{self.kind} error"

    @property
    def summary(self) -> str:
        """How many there are.

        >>> ErrorWalk("search", 4, (2, 5), 9).summary
        'With a beam of 4, 2 of 9 outputs are search errors.'
        """
        count = len(self.numbers)
        article = "an" if self.kind == "any" else "a"
        are = f"is {article} {self.name}" if count == 1 else f"are {self.name}s"
        return f"With a beam of {self.width}, {count:,} of {self.examples:,} outputs {are}."

    def place(self, number: int | None) -> int | None:
        """Which error an input is, from 1; None if it is none."""
        return None if number not in self.numbers else self.numbers.index(number) + 1

    def previous(self, number: int | None) -> int | None:
        """The last error before an input; before one that was typed there is none."""
        at = 0 if number is None else bisect_left(self.numbers, number)
        return self.numbers[at - 1] if at else None

    def next(self, number: int | None) -> int | None:
        """The first error after an input; after one that was typed, the first of all.

        >>> walk = ErrorWalk("any", 4, (2, 5), 9)
        >>> walk.previous(5), walk.next(3), walk.next(5), walk.next(None)
        (2, 5, None, 2)
        """
        at = 0 if number is None else bisect_right(self.numbers, number)
        return self.numbers[at] if at < len(self.numbers) else None


def walk_errors(run: InspectedRun, kind: ErrorKind) -> ErrorWalk:
    """Decode the file of a run, and find the errors of a kind."""
    examples = [] if run.data is None else run.task.examples(run.model, run.data)
    found = evaluated(run.model, examples, run.width)
    return ErrorWalk(kind, run.width, tuple(wrong_examples(found, kind)), len(examples))
