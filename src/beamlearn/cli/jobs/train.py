"""What `beamlearn train` does."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from ...comparison.results import ABOUT
from ...data.atomic import DiskFullError
from ...learning.ranks import LostRankError, Ranks
from ...learning.shards import check_shards
from ...tasks.decoding_width import TOLERANCE, MeasuredWidths, measure_widths
from ...tasks.experiment import Prepared, begin, read_experiment, resume
from ...tasks.settings import Experiment
from ...tasks.sharing import follow, lead
from ...tasks.task import D, E, M, Report, TaskSpec
from ...training.logs import check_logs, logging
from ...training.progress import Display
from ...training.run import CONFIG, Run, left_aside, replacing
from ...training.settings import SettingsError, parse
from ...training.trainer import fit
from ..console import say
from ..program import program
from ..settings import check_free
from ..torchrun import Launch
from .diagnose import closing_line
from .evaluate import cell
from .processes import joined
from .setup import set_up


def train(
    task: TaskSpec[E, D, M],
    values: dict[str, Any],
    source: str,
    out: Path,
    *,
    resuming: bool,
    overwrite: bool,
    logs: Sequence[str],
    device: str,
    threads: int,
    quiet: bool,
) -> None:
    """Begin a training, or go on with one, and take it to its end."""
    logs = check_logs(logs)
    launch = Launch.here()
    console = Console(stderr=True, quiet=quiet or not launch.speaks)
    prepare = partial(
        prepared_training,
        task,
        values,
        source,
        out,
        launch,
        device,
        console,
        resuming=resuming,
        overwrite=overwrite,
    )
    try:
        with joined(launch, device) as group:
            set_up(device, threads)
            ranks = Ranks(group)
            check_alike(ranks, values, resuming=resuming, overwrite=overwrite)
            if ranks.number > 0:
                fit(follow(task, ranks, device))
            else:
                train_here(lead(ranks, prepare), console, out, logs, overwrite=overwrite)
    except LostRankError as error:
        say(console, f"{error} The same command with --resume goes on.")
        raise typer.Exit(1) from None


def train_here(
    prepared: Prepared[E, D, M],
    console: Console,
    out: Path,
    logs: Sequence[str],
    *,
    overwrite: bool,
) -> None:
    """Take a training to its end in its folder, and say how it goes on if it is interrupted."""
    for sentence in remarks(prepared.experiment, prepared.training.stopped, out):
        say(console, sentence)
    try:
        train_model(prepared, console, out, logs)
    except KeyboardInterrupt:
        say(console, f"Interrupted. {way_on(prepared.experiment, overwrite)}")
        raise typer.Exit(130) from None
    except DiskFullError as error:
        raise DiskFullError(f"{error} {way_on(prepared.experiment, overwrite)}") from error


def prepared_training(
    task: TaskSpec[E, D, M],
    values: dict[str, Any],
    source: str,
    out: Path,
    launch: Launch,
    device: str,
    console: Console,
    *,
    resuming: bool,
    overwrite: bool,
) -> Prepared[E, D, M]:
    """The training that is asked for, in its folder."""
    check_overwriting(out, values, launch, resuming=resuming, overwrite=overwrite)
    if goes_on(out, values, launch, resuming=resuming):
        check_unchanged(task, out, values, source)
        check_shareable(read_experiment(task, Run.open(out)), launch)
        return resume(task, out, device, report=partial(say, console))
    check_free(out, ABOUT, "a comparison")
    experiment = parse(task.experiment, values, source)
    check_shareable(experiment, launch)
    with replacing(out) if overwrite and occupied(out) else nullcontext():
        return begin(task, experiment, out, device)


def goes_on(out: Path, values: Mapping[str, Any], launch: Launch, *, resuming: bool) -> bool:
    """Is there a training to go on with? After a restart by torchrun, without being asked to."""
    if launch.restarts > 0:
        return (out / CONFIG).exists()
    return resuming and (out.exists() or "train" not in values["data"])


def check_alike(ranks: Ranks, values: Mapping[str, Any], **asked: bool) -> None:
    """Refuse commands that are not the same in all processes."""
    ranks.check_equal(
        json.dumps([values, asked], sort_keys=True, default=str),
        "All processes must be started with the same options",
        "give them the same on all machines",
    )


def check_shareable(experiment: Experiment, launch: Launch) -> None:
    """Refuse a training that so many processes cannot share."""
    check_shards(experiment.learning.shards, launch.processes)
    if launch.processes > 1 and piped(experiment):
        raise SettingsError(
            f"`train` and `dev` must be files if {launch.processes} processes read them, got "
            "standard input; write it to a file first."
        )


def way_on(experiment: Experiment, overwrite: bool) -> str:
    """How a training that was interrupted goes on."""
    if piped(experiment):
        return "It has to start over."
    instead = " in place of --overwrite" if overwrite else ""
    return f"The same command with --resume{instead} goes on."


def occupied(out: Path) -> bool:
    """Is there something in a folder?"""
    return out.is_dir() and any(out.iterdir())


def check_overwriting(
    out: Path, values: Mapping[str, Any], launch: Launch, *, resuming: bool, overwrite: bool
) -> None:
    """Refuse to replace a run that is needed, or that an earlier command has set aside."""
    if overwrite and resuming:
        raise SettingsError("`resume` or `overwrite` can be given, got both; leave out one.")
    if overwrite and launch.max_restarts > 0:
        raise SettingsError(
            "`overwrite` must be left out if torchrun may restart the training, as it would start "
            f"over each time; delete {out} first, or leave out --max-restarts."
        )
    start = values.get("warm_start")
    if overwrite and start is not None and Path(start).resolve() == out.resolve():
        raise SettingsError(
            f"`warm_start` must be another folder than `out` if that is overwritten, got {start} "
            "for both; choose another `out`."
        )
    if not out.exists() and (aside := left_aside(out)) is not None:
        raise SettingsError(
            f"{out} is gone, because a command that was overwriting it was killed; rename {aside}, "
            f"which is the old run, back to {out}, or delete it, and try again."
        )


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
            "than in training, leave out --width here: several widths are tried at the end."
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


def train_model(
    prepared: Prepared[E, D, M], console: Console, out: Path, logs: Sequence[str] = ()
) -> None:
    """Train to the end, and measure the result on the validation set."""
    task, model, training = prepared.task, prepared.model, prepared.training
    with prepared.checkpointer.held():
        say(
            console,
            f"{task.describe_data(model, len(training.examples))}, "
            f"{sum(p.numel() for p in model.scorer.parameters()):,} parameters",
        )
        with (
            Display(console, task.unit, prepared.describe_validation) as display,
            logging(logs, training, prepared.checkpointer.run) as loggers,
        ):
            fit(training, prepared.checkpointer, display, *loggers)
        measured = decoding_widths(prepared)
        reports = final_reports(prepared, measured)
        results = [report.to_json() for report in reports]
        metrics = {"task": task.name, "examples": len(prepared.validation), "results": results}
        prepared.checkpointer.run.save_metrics(metrics)
        prepared.discard_cache()
    for sentence in validated(prepared, reports, measured):
        say(console, sentence)
    say(
        console,
        f"The model is in {out}. Next: {program()} evaluate {out} FILE, or "
        f"{program()} predict {out} FILE",
    )


def decoding_widths(prepared: Prepared[E, D, M]) -> MeasuredWidths | None:
    """Find the width to decode with, and keep it in the run folder."""
    measured = measure_widths(
        prepared.task,
        prepared.model,
        prepared.validation,
        prepared.experiment.learning,
        seen=prepared.training.seen,
    )
    if measured is not None:
        prepared.checkpointer.run.save_decoding(measured.to_json())
    return measured


def final_reports(prepared: Prepared[E, D, M], measured: MeasuredWidths | None) -> list[Report]:
    """How good the model is on all validation data, greedily and with the beam of training."""
    dev, widths = prepared.validation, {1, prepared.experiment.learning.decoding_width}
    if measured is not None and measured.examples == len(dev):
        return [one for one in measured.reports if one.width in widths]
    return [prepared.task.report(prepared.model, dev, width) for width in sorted(widths)]


def validated(
    prepared: Prepared[E, D, M], reports: Sequence[Report], measured: MeasuredWidths | None
) -> Iterator[str]:
    """What the end of a training found on the validation data."""
    task, dev = prepared.task, prepared.validation
    shown, some = reports, False
    if measured is not None:
        shown, some = measured.reports, measured.examples < len(dev)
    if some:
        yield from (f"validation, {with_beam(task, one)}" for one in reports)
        yield f"On {len(shown[0].evaluation):,} of the {len(dev):,} validation examples:"
    yield from (f"{'  ' if some else 'validation, '}{with_beam(task, one)}" for one in shown)
    trained = prepared.experiment.learning.decoding_width
    if (line := closing_line(task, prepared.model, shown, trained)) is not None:
        yield line
    if measured is not None:
        yield (
            f"The model is decoded with a beam of {measured.best} unless --width says otherwise: "
            f"the smallest width, from that of training ({trained}) on, with a loss within "
            f"{TOLERANCE:.0%} of the lowest."
        )


def with_beam(task: TaskSpec[E, D, M], report: Report) -> str:
    """The numbers at a width that matter most, and the speed where the task has one."""
    result = report.to_json()
    speeds = (
        f", {cell(name, result[name])} {label}"
        for name, label in task.columns.items()
        if name.endswith("_per_second") and name in result
    )
    return f"beam {report.width}: {task.describe_result(result)}{next(speeds, '')}"
