"""What `beamlearn evaluate` does."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import Report
from ...training.choices import Policy
from ...training.settings import SettingsError
from ..console import with_progress
from .setup import given_options, set_up


def evaluate(
    run: Path,
    file: str,
    width: str | None,
    *,
    as_json: bool,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Test a model at several widths, and print the numbers."""
    set_up(device, threads)
    model, experiment = load(run, device, policy)
    task = task_named(experiment.task)
    widths = sorted({1, experiment.learning.decoding_width}) if width is None else numbers(width)
    data = task.read_labeled(file, model, experiment, given_options(task, run, options))
    reports = [
        task.report(model, data, k) for k in with_progress(widths, len(widths), "evaluating")
    ]
    if as_json:
        results = [found.to_json() for found in reports]
        print(json.dumps({"task": task.name, "examples": len(data), "results": results}))
    else:
        wide = None if Console().is_terminal else 200
        Console(width=wide).print(table(reports, task.columns))


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
