"""What `beamlearn train` does."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from ...comparison.results import ABOUT
from ...tasks.experiment import Prepared, begin, read_experiment, resume
from ...tasks.settings import Experiment
from ...tasks.task import D, E, M, TaskSpec
from ...training.progress import Display
from ...training.run import Run
from ...training.settings import SettingsError, parse
from ...training.trainer import fit
from ..console import say
from ..program import program
from ..settings import check_free
from .diagnose import closing_line
from .setup import set_up


def train(
    task: TaskSpec[E, D, M],
    values: dict[str, Any],
    source: str,
    out: Path,
    *,
    resuming: bool,
    device: str,
    threads: int,
    quiet: bool,
) -> None:
    """Begin a training, or go on with one, and take it to its end."""
    console = Console(stderr=True, quiet=quiet)
    set_up(device, threads)
    if resuming and (out.exists() or "train" not in values["data"]):
        check_unchanged(task, out, values, source)
        prepared = resume(task, out, device, report=partial(say, console))
    else:
        check_free(out, ABOUT, "a comparison")
        prepared = begin(task, parse(task.experiment, values, source), out, device)
    for sentence in remarks(prepared.experiment, prepared.training.stopped, out):
        say(console, sentence)
    try:
        train_model(prepared, console, out)
    except KeyboardInterrupt:
        over = piped(prepared.experiment)
        way = "It has to start over." if over else "The same command with --resume goes on."
        say(console, f"Interrupted. {way}")
        raise typer.Exit(130) from None


def remarks(experiment: Experiment, over: bool, out: Path) -> Iterator[str]:
    """What is worth knowing before a training begins or goes on."""
    learning = experiment.learning
    if over:
        yield (
            f"The training in {out} is over. To train further, begin another one with --warm-start "
            f"{out} and another --out."
        )
    elif piped(experiment):
        yield "The data comes from standard input: if it is interrupted, it has to start over."
    if learning.row.width == 1 < learning.decoding_width:
        yield (
            f"{learning.algorithm} is meant for a beam of 1, and is trained with one of "
            f"{learning.decoding_width}, which is another algorithm. To decode with a wider beam "
            "than in training, leave out --width here, and give it to evaluate and predict."
        )


def piped(experiment: Experiment) -> bool:
    """Does the data come from standard input, which cannot be read again?"""
    return experiment.data is not None and "-" in (experiment.data.train, experiment.data.dev)


def check_unchanged(
    task: TaskSpec[E, D, M], out: Path, values: Mapping[str, Any], source: str
) -> None:
    """Refuse to go on with other settings than the training began with."""
    began = read_experiment(task, Run.open(out))
    merged = began.model_dump(mode="json")
    for name, value in values.items():
        known = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = {**merged[name], **value} if known else value
    wanted = parse(task.experiment, merged, source).resolved()
    if changed := began.changed(wanted, out):
        where = f"{source}: " if source else ""
        raise SettingsError(
            f"{where}{changed}; leave it out to go on, or train in another folder.", "out"
        )


def train_model(prepared: Prepared[E, D, M], console: Console, out: Path) -> None:
    """Train to the end, and measure the result on the validation set."""
    task, model, training = prepared.task, prepared.model, prepared.training
    with prepared.checkpointer.run.lock():
        say(
            console,
            f"{task.describe_data(model, len(training.examples))}, "
            f"{sum(p.numel() for p in model.scorer.parameters()):,} parameters",
        )
        with Display(console, task.unit, prepared.describe_validation) as display:
            fit(training, prepared.checkpointer, display)
        dev, final = prepared.validation, prepared.experiment.learning.decoding_width
        reports = [task.report(model, dev, width) for width in sorted({1, final})]
        results = [report.to_json() for report in reports]
        metrics = {"task": task.name, "examples": len(dev), "results": results}
        prepared.checkpointer.run.save_metrics(metrics)
    for result in results:
        say(console, f"validation, beam {result['width']}: {task.describe_result(result)}")
    if (line := closing_line(task, model, dev, reports, final)) is not None:
        say(console, line)
    say(
        console,
        f"The model is in {out}. Next: {program()} evaluate {out} FILE, or "
        f"{program()} predict {out} FILE",
    )
