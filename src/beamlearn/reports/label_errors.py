"""Where a model goes wrong: labels, confusions, and the worst outputs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from ..evaluation.label_errors import Confusion, LabelErrors, LabelScore
from ..evaluation.wrong_examples import blame, worst_examples
from ..tasks.data import DataSet
from ..tasks.task import LabeledReport, Model, Report, TaskSpec
from .inspect_command import InspectCommand
from .pages.render import number, visible
from .section import Section, Table
from .wording import beam

WORST, CLIPPED = 10, 100
"""How many outputs are listed, and how many characters of each input."""
LABELS, CONFUSIONS = 50, 20
"""The most lines of tables on a page."""


@final
@dataclass(frozen=True)
class WorstOutput:
    """An output that costs much."""

    sentence: int
    """Its number in the file, from 1."""
    cost: float
    error: str | None
    """Whose error it is, "search" or "model"; None if no output costs less."""
    input: str
    command: str
    """What shows its search."""

    @property
    def line(self) -> str:
        """Number, cost, blame and the beginning of the input."""
        kind = "no output costs less" if self.error is None else f"{self.error} error"
        text = self.input if len(self.input) <= CLIPPED else f"{self.input[: CLIPPED - 1]}…"
        return f"Input {self.sentence:,}, cost {number(self.cost)}, {kind}: {text}"


@final
@dataclass(frozen=True)
class ErrorsFound:
    """What goes wrong at one width of the beam."""

    width: int
    labels: LabelErrors | None
    """None where the reports of a task do not say."""
    worst: Sequence[WorstOutput]

    @classmethod
    def of(
        cls,
        task: TaskSpec[Any, Any, Any],
        model: Model,
        data: DataSet,
        report: Report,
        command: InspectCommand,
    ) -> "ErrorsFound":
        """Read labels and the worst outputs off a report."""
        found = report.evaluation
        worst = [
            WorstOutput(
                place + 1,
                float(found.costs[place]),
                blame(found, place),
                task.subject(model, data, place).text,
                command.at(place, report.width),
            )
            for place in worst_examples(found, WORST)
        ]
        labels = report.label_errors if isinstance(report, LabeledReport) else None
        return cls(report.width, labels, worst)

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        labels = {} if self.labels is None else self.labels.to_json()
        return {"width": self.width, **labels, "worst": [vars(one) for one in self.worst]}

    def tables(self, labels: int, confusions: int) -> Iterator[Table]:
        """Tables of at most so many lines: one for each kind of labels, and the confusions."""
        if self.labels is None:
            return
        for kind, scores in self.labels.scores.items():
            yield score_table(kind, scores, labels)
        if self.labels.confusions:
            yield confusion_table(self.labels.confusions, confusions)


def report_at(reports: Sequence[Report], width: int) -> Report:
    """The report at a width, or at the widest."""
    same = (one for one in reports if one.width == width)
    return next(same, max(reports, key=lambda one: one.width))


def score_table(kind: str, scores: Sequence[LabelScore], most: int) -> Table:
    """Precision, recall and F1 of each label, those with the most errors first."""
    rows = [
        (
            shown(one.label),
            *(f"{rate:.2%}" for rate in (one.precision, one.recall, one.f1)),
            *(f"{count:,}" for count in (one.gold, one.predicted)),
        )
        for one in scores[:most]
    ]
    if len(scores) > most:
        rows.append((f"and {len(scores) - most:,} more", "", "", "", "", ""))
    return Table((kind, "precision", "recall", "F1", "in the data", "predicted"), tuple(rows))


def confusion_table(confusions: Sequence[Confusion], most: int) -> Table:
    """What was predicted in place of what, the most frequent first."""
    rows = [
        (f"{shown(one.gold)} → {shown(one.predicted)}", f"{one.count:,}")
        for one in confusions[:most]
    ]
    if len(confusions) > most:
        rows.append((f"and {len(confusions) - most:,} more", ""))
    return Table(("right → predicted", "times"), tuple(rows))


def shown(label: str | None) -> str:
    """A label in a table.

    >>> shown("NOUN"), shown(" "), shown(None)
    ('NOUN', "' '", '(nothing)')
    """
    return "(nothing)" if label is None else visible(label)


def going_wrong(found: ErrorsFound) -> Section:
    """The section of a page."""
    sentences = [f"All of this is with {beam(found.width)}."]
    if found.labels is not None:
        sentences.append(
            "Labels with the most errors come first. The last table counts what was predicted in "
            "place of what is right."
        )
    if found.worst:
        sentences.append(
            f"The {len(found.worst)} outputs that cost most are at the end, each with the command "
            "that shows its search."
        )
    return Section(
        "labels",
        "Where does it go wrong?",
        tuple(sentences),
        tables=tuple(found.tables(LABELS, CONFUSIONS)),
        code=tuple((one.line, one.command) for one in found.worst),
    )
