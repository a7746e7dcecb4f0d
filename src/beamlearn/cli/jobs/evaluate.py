"""What `beamlearn evaluate` does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ...reports.inspect_command import InspectCommand
from ...reports.inspector.text import plain
from ...reports.label_errors import ErrorsFound, report_at
from ...reports.wording import beam
from ...tasks.decoding_width import default_width
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import Report
from ...training.choices import Policy
from ...training.settings import SettingsError
from ..console import say, with_progress
from ..program import program
from .setup import given_options, set_up

LABELS, CONFUSIONS = 25, 15
"""The most lines of printed tables of errors."""


def evaluate(
    run: Path,
    file: str,
    width: str | None,
    *,
    errors: bool,
    as_json: bool,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Test a model at several widths, and print the numbers; if asked, also where it errs."""
    set_up(device, threads)
    model, experiment = load(run, device, policy)
    task = task_named(experiment.task)
    usual = default_width(run, experiment.learning, policy)
    widths = sorted({1, usual}) if width is None else numbers(width)
    given = given_options(task, run, options)
    data = task.read_labeled(file, model, experiment, given)
    reports = [
        task.report(model, data, k) for k in with_progress(widths, len(widths), "evaluating")
    ]
    weights = {} if policy == "best" else {"policy": policy}
    command = InspectCommand(str(run), file, {**given, **weights}, program())

    def wrong(report: Report) -> ErrorsFound:
        return ErrorsFound.of(task, model, data, report, command)

    if as_json:
        results = [found.to_json() for found in reports]
        record: dict[str, Any] = {"task": task.name, "examples": len(data), "results": results}
        if errors:
            record["errors"] = [wrong(report).to_json() for report in reports]
        print(json.dumps(record))
        return
    console = Console(width=None if Console().is_terminal else 200)
    console.print(table(reports, task.columns))
    if errors:
        print_errors(console, wrong(report_at(reports, usual)))


def print_errors(console: Console, found: ErrorsFound) -> None:
    """Print where a model goes wrong, at one width."""
    say(console, f"\nWhere it goes wrong with {beam(found.width)}:")
    for rows in found.tables(LABELS, CONFUSIONS):
        printed = Table(rows.heads[0])
        for head in rows.heads[1:]:
            printed.add_column(head, justify="right")
        for row in rows.rows:
            printed.add_row(*map(plain, row))
        console.print(printed)
    if not found.worst:
        say(console, "No output costs anything.")
    for one in found.worst:
        console.print(plain(one.line), soft_wrap=True)
        say(console, f"  {one.command}")


def numbers(text: str, name: str = "width") -> list[int]:
    """Read the widths of an option."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) >= 1 for part in parts):
        raise SettingsError(
            f"`{name}` must be whole numbers of at least 1, as in 1,2,4,8, got {text!r}."
        )
    return [int(part) for part in parts]


def table(reports: Sequence[Report], labels: Mapping[str, str]) -> Table:
    """One column per width."""
    shown = Table("", *(f"beam {found.width}" for found in reports))
    rows = [found.to_json() for found in reports]
    for name, label in labels.items():
        if name in rows[0]:
            shown.add_row(label, *(cell(name, row[name]) for row in rows))
    return shown


def cell(name: str, value: float) -> str:
    """A number as people read it.

    >>> cell("words_per_second", 12345.6), cell("cost_per_example", 0.5), cell("accuracy", 0.5)
    ('12,346', '0.50', '50.00%')
    """
    if name.endswith("_per_second"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if name.endswith("_per_example") else f"{value:.2%}"
