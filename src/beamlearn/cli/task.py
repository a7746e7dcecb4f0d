"""What a task adds to the command line."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import typer
from rich.console import Console
from rich.progress import track

from ..tasks.task import D, E, Kind, M
from ..training.settings import SettingsError

Item = TypeVar("Item")
Options = Mapping[str, str]
"""The options that came among those that only some tasks have, by name."""
Layout = Annotated[
    str | None, typer.Option(help="Tagging: auto, conllu or columns.", show_default="auto")
]
Column = Annotated[
    str | None,
    typer.Option(help="Tagging: where the right tags are.", show_default="as in training"),
]
References = Annotated[
    str | None,
    typer.Option(
        help="Transduction: one target on a line, several, or merged: also those of other lines "
        "with the same source.",
        show_default="as in training",
    ),
]


@dataclass(frozen=True)
class Asked:
    """What `predict` is to write."""

    input: str
    """A file, or - for standard input."""
    width: int
    nbest: int
    """How many outputs to find for each sentence; 1 unless --nbest came."""
    listing: bool
    """Did --nbest come?"""
    as_json: bool
    """Did --json come?"""
    options: Options


class TaskCommands(ABC, Generic[E, D, M]):
    """What `train`, `predict` and `evaluate` leave to the task."""

    kind: Kind[E, D, M]
    help: str
    """Of `train`: a sentence, and examples."""
    options: frozenset[str]
    """Those options of `predict` and `evaluate` that it has and other tasks may not have."""
    table: Mapping[str, str]
    """What `evaluate` shows of a report, in this order, and how it is called."""

    @abstractmethod
    def size(self, model: M, examples: int) -> str:
        """What there is to learn from so many examples, as `train` says it."""

    @abstractmethod
    def score(self, result: Mapping[str, Any]) -> str:
        """What matters most of a report in JSON, as `train` says it."""

    @abstractmethod
    def predict(self, model: M, experiment: E, asked: Asked) -> str:
        """The text that `predict` writes."""

    @abstractmethod
    def read(self, file: str, model: M, experiment: E, options: Options) -> D:
        """The data that `evaluate` is given; refuse what the model cannot be compared with."""


def given_options(task: TaskCommands[E, D, M], run: Path, **values: str | None) -> Options:
    """The options that were given; refuse those that the task does not have."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in given.keys() - task.options:
        raise SettingsError(
            f"`{name}` is no option for the task of {run}, which is {task.kind.name!r}; leave out "
            f"--{name}."
        )
    return given


def behind_bar(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """The items, with a progress bar on a terminal."""
    console = Console(stderr=True)
    return iter(
        track(
            items,
            title,
            total=total,
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
