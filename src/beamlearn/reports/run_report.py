"""The report of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..comparison.plan import Cell
from ..evaluation.findings import Findings
from ..evaluation.metric import Metric, main_metric
from ..evaluation.significance import sign_flip_test
from ..plural import counted
from ..tasks.registry import task_named
from ..tasks.settings import Experiment
from ..tasks.task import Report
from ..training.run import Run
from .configuration import configuration, train_command
from .curves import Log, learning_curves
from .diagnosed import diagnosed
from .error_figures import blamed, by_position
from .label_errors import ErrorsFound, going_wrong, report_at
from .page import page_of
from .proof import Proof, proven
from .reliability import calibrated
from .section import Section, Table
from .widths import against_width
from .wording import beam, best_of, capital, listed, p_value, value, wider

LEVEL = 0.05
"""A difference with a lower p-value is significant."""


@dataclass(frozen=True)
class Tested:
    """The results of a run on a file, with beams of several widths."""

    file: str
    validation: bool
    """Was the best epoch chosen on this file?"""
    examples: int
    reports: Sequence[Report]
    """In the order of their widths."""
    table: Table
    """All numbers."""
    main: int
    """The width of the beam in training."""
    findings: Findings | None = None
    """Why it errs, where the reports say what became of the best outputs."""
    errors: ErrorsFound | None = None
    """Where it goes wrong, at the width of the beam in training."""

    def number(self, width: int, name: str) -> float:
        """A number at a width."""
        return float(self.at(width).to_json()[name])

    def at(self, width: int) -> Report:
        """The report at a width, or at the widest."""
        return report_at(self.reports, width)

    def metric(self, task: str) -> Metric:
        """What matters most."""
        return main_metric(task_named(task).metrics, [one.to_json() for one in self.reports])


def report_of_run(
    run: Run, experiment: Experiment, tested: Tested | str, proof: Proof | str | None
) -> bytes:
    """The page of a run; where something is missing, a sentence says why."""
    log = Log.of(run.rounds())
    sections: list[Section | None] = [summary(experiment, log, tested), learning_curves(log)]
    if isinstance(tested, Tested):
        sections += measured(experiment, tested)
    if isinstance(proof, Proof):
        sections.append(proven(proof))
    elif proof is not None:
        sections.append(Section("proof", "What the run proves", (proof,)))
    sections.append(configuration(train_command(experiment, beside(run.path)), run.config))
    title = f"Report on {run.path.resolve().name}"
    return page_of(title, [one for one in sections if one is not None])


def beside(path: Path) -> Path:
    """A folder for the same run again, relative if that of the run is.

    >>> beside(Path("runs/pos")).as_posix()
    'runs/pos-again'
    """
    again = f"{path.resolve().name}-again"
    return path / ".." / again if path.name in ("", "..") else path.with_name(f"{path.name}-again")


def summary(experiment: Experiment, log: Log, tested: Tested | str) -> Section:
    """What was trained, how good it is, and whether a wider beam helps."""
    sentences = [trained(experiment, log)]
    if isinstance(tested, str):
        return Section("summary", "Summary", (*sentences, tested))
    metric = tested.metric(experiment.task)
    main = tested.at(tested.main).profile.width
    chosen = ", also used to choose the best epoch" if tested.validation else ""
    sentences.append(
        f"On {Path(tested.file).name} ({counted(tested.examples, 'example')}{chosen}), "
        f"{metric.spoken} is {value(metric, tested.number(main, metric.name))} with {beam(main)}."
    )
    if len(tested.reports) > 1:
        sentences.append(worth(tested, metric))
    return Section("summary", "Summary", tuple(sentences), tables=(tested.table,))


def trained(experiment: Experiment, log: Log) -> str:
    """What was trained on what."""
    choices, learning = Cell("", experiment).choices, experiment.learning
    source = "data in memory" if experiment.data is None else Path(experiment.data.train).name
    limit = None if experiment.data is None else experiment.data.limit
    some = "" if limit is None else f" (the first {counted(limit, 'example')})"
    first, last = learning.first_width, learning.decoding_width
    width = f"{beam(last)}" if first == last else f"a beam that widens from {first} to {last}"
    done, epochs = sum(line["epoch"] > 0 for line in log.validations), learning.epochs
    count = counted(epochs, "epoch")
    ended = count if done == epochs else f"{done} of {count}"
    return (
        f"A model for the task {experiment.task} was trained on {source}{some} for {ended} with "
        f"the strategy {choices['strategy']}, the loss {choices['loss']} and {width}."
    )


def worth(tested: Tested, metric: Metric) -> str:
    """Is the widest beam better than the narrowest?"""
    narrow, wide = tested.reports[0], tested.reports[-1]
    k, most = narrow.profile.width, wide.profile.width
    does = wider(
        metric,
        (k, tested.number(k, metric.name)),
        (most, tested.number(most, metric.name)),
    )
    differences = (wide.evaluation.costs - narrow.evaluation.costs).double()[None].cpu()
    if not bool(differences.any()):
        return f"{capital(does)}. No output has a different cost."
    p = float(sign_flip_test(differences))
    significant = "is significant" if p < LEVEL else "is not significant"
    change = float(torch.mean(differences))
    return (
        f"{capital(does)}. The cost of an output changes by {change:+.4f} on average, which "
        f"{significant} ({p_value(p)}, paired sign-flip test over the examples)."
    )


def measured(experiment: Experiment, tested: Tested) -> list[Section | None]:
    """The sections that need outputs."""
    metric = tested.metric(experiment.task)
    rows: list[dict[str, Any]] = [one.to_json() for one in tested.reports]
    values = {"this run": {row["width"]: [row[metric.name]] for row in rows}}
    sentence = (
        f"{capital(best_width(metric, {row['width']: row[metric.name] for row in rows}))} "
        f"The model was trained with a beam of {tested.main}."
    )
    profiles = [(f"beam {one.profile.width}", one.profile) for one in tested.reports]
    main = [one for _, one in profiles].index(tested.at(tested.main).profile)
    last = len(profiles) - 1
    certain = {main, last} if profiles[main][1].width > 1 else {last}  # one hypothesis is sure
    return [
        against_width(values, metric, [sentence]),
        by_position({number: profiles[number] for number in sorted({0, main})}),
        blamed(profiles),
        None if tested.errors is None else going_wrong(tested.errors),
        None if tested.findings is None else diagnosed(tested.findings),
        calibrated({number: profiles[number] for number in sorted(certain)}),
    ]


def best_width(metric: Metric, found: Mapping[int, float]) -> str:
    """Which widths are best.

    >>> best_width(Metric("las", "LAS"), {1: 0.5, 2: 0.5})
    'LAS is the same with all widths: 50.00 %.'
    """
    best = best_of(metric, found)
    number = value(metric, found[best[0]])
    if len(best) == len(found) > 1:
        return f"{metric.spoken} is the same with all widths: {number}."
    beams = f"beams of {listed([str(k) for k in sorted(best)])}" if len(best) > 1 else beam(best[0])
    return f"{metric.spoken} is best with {beams}: {number}."
