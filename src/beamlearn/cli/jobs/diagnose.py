"""What `beamlearn diagnose` does; `report` and `train` tell a part of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from ...evaluation.findings import Findings, falls
from ...evaluation.metric import main_metric
from ...evaluation.wider_search import WiderSearch
from ...tasks.data import DataSet, spread
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import Model, Report, TaskSpec
from ...training.choices import Policy
from ..console import say, with_progress
from .evaluate import numbers
from .setup import given_options, set_up

VERY_WIDE, SAMPLE = 128, 100
"""The width of a beam that is nearly exact, and the most examples that it searches."""
HYPOTHESES, NEIGHBORS = 300_000, 1 << 25
"""The most hypotheses that it may extend in all, about, and neighbors that it may rank at once."""


def diagnose(
    run: Path,
    file: str,
    widths: str,
    limit: int | None,
    *,
    as_json: bool,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Decode at several widths, and print what goes wrong and whether training can help."""
    set_up(device, threads)
    model, experiment = load(run, device, policy)
    task = task_named(experiment.task)
    chosen = sorted(set(numbers(widths, "widths")))
    data = task.read_labeled(file, model, experiment, given_options(task, run, options))
    data = data.take(spread(len(data), limit))
    reports = [
        task.report(model, data, width)
        for width in with_progress(chosen, len(chosen), "diagnosing")
    ]
    found = findings(task, model, reports, experiment.learning.decoding_width)
    found = replace(found, wider=wider_search(task, model, data, reports, found.main.width))
    if as_json:
        print(json.dumps({"task": task.name, "examples": len(data), **found.to_json()}))
        return
    console = Console(width=None if Console().is_terminal else 200)
    shown = Table("", *(f"beam {width}" for width in chosen))
    for row in found.table:
        shown.add_row(*row)
    console.print(shown)
    for sentence in found.sentences:
        say(console, sentence)


def findings(
    task: TaskSpec[Any, Any, Any], model: Model, reports: Sequence[Report], trained: int
) -> Findings:
    """What the reports of several widths say together."""
    rows = {one.width: one.to_json() for one in reports}
    metric = main_metric(task.metrics, list(rows.values()))
    evaluations = {one.width: one.evaluation for one in reports}
    values = {width: float(row[metric.name]) for width, row in rows.items()}
    sees_all = model.settings.sees_all
    return Findings.of(evaluations, metric, values, trained=trained, sees_all=sees_all)


def have_fates(reports: Sequence[Report]) -> bool:
    """Do reports say what became of the best outputs? Those of other tasks need not."""
    return all(one.evaluation.fates is not None for one in reports)


def wider_search(
    task: TaskSpec[Any, Any, Any],
    model: Model,
    data: DataSet,
    reports: Sequence[Report],
    usual: int,
) -> WiderSearch | None:
    """Search a sample with a very wide beam; None where that would take too much."""
    examples = task.examples(model, data)
    length = sum(map(len, examples)) / len(examples)
    few = max(1, min(SAMPLE, int(HYPOTHESES / (VERY_WIDE * max(1.0, length)))))
    places = spread(len(data), few)
    space = model.space([examples[0]])
    actions = space.expand(space.initial()).actions
    width = min(VERY_WIDE, NEIGHBORS // (len(places) * actions))
    if width <= max(one.width for one in reports):
        return None
    before = next(one.evaluation for one in reports if one.width == usual)
    found = task.report(model, data.take(places), width).evaluation
    return WiderSearch.of(usual, before.costs[torch.tensor(places)], width, found)


def closing_line(
    task: TaskSpec[Any, Any, Any], model: Model, reports: Sequence[Report], trained: int
) -> str | None:
    """What the searches at the end of a training say, at its width and others.

    None where the reports of the task do not say what became of the best outputs.
    """
    if not have_fates(reports):
        return None
    found = findings(task, model, reports, trained)
    if trained > 1:
        return falls(found.at(trained), "validation example")
    assert found.verdict is not None  # greedy search and a beam are among them
    return f"{falls(found.main, 'validation example')} {found.verdict.conclusion}"
