"""`beamlearn evaluate`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..tasks.registry import load
from ..tasks.task import Report
from ..training.settings import SettingsError
from .device import Device, Threads, set_up
from .policy import Mixture, Policy, policy_of
from .task import Column, Layout, References, behind_bar, given_options
from .tasks import COMMANDS


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    file: Annotated[
        str, typer.Argument(help="A file with right answers, or - for standard input.")
    ],
    width: Annotated[
        str | None,
        typer.Option(
            help="Of the beam; several as in 1,2,4,8.", show_default="1 and as in training"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    layout: Layout = None,
    column: Column = None,
    references: References = None,
    policy: Policy = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Compare a model's output with the right one, at several widths of the beam.

    [bold]Examples[/bold]

    beamlearn evaluate runs/pos test.conllu --width 1,2,4,8

    beamlearn evaluate runs/pos test.conllu --json | jq .results[0].accuracy

    beamlearn evaluate runs/parser test.conllu --width 8 --json | jq .results[0].las

    beamlearn evaluate runs/g2p test.tsv --width 1,8 --references merged
    """
    set_up(device, threads)
    model, experiment = load(run, device, policy_of(policy, mixture))
    task = COMMANDS[experiment.task]
    widths = sorted({1, experiment.learning.final_width}) if width is None else numbers(width)
    options = given_options(task, run, layout=layout, column=column, references=references)
    data = task.read(file, model, experiment, options)
    reports = [
        task.kind.report(model, data, k) for k in behind_bar(widths, len(widths), "evaluating")
    ]
    if as_json:
        results = [found.to_json() for found in reports]
        print(json.dumps({"task": task.kind.name, "examples": len(data), "results": results}))
    else:
        wide = None if Console().is_terminal else 200
        Console(width=wide).print(table(reports, task.table))


def numbers(text: str, name: str = "width") -> list[int]:
    """Read the widths of an option."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) >= 1 for part in parts):
        raise SettingsError(
            f"`{name}` must be whole numbers of at least 1, as in 1,2,4,8, but {text!r} came."
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
