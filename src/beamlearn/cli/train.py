"""`beamlearn train`."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..comparison.results import ABOUT
from ..tasks.experiment import Prepared, begin, read_experiment, resume
from ..tasks.settings import Experiment
from ..tasks.task import D, E, Kind, M
from ..training.progress import Display
from ..training.run import Run
from ..training.settings import SettingsError, groups_in, parse, read_toml
from ..training.trainer import fit
from .device import Device, Threads, set_up
from .options import Given, with_settings
from .program import program
from .task import TaskCommands
from .tasks import COMMANDS


def train() -> typer.Typer:
    """The group of commands, one for each task."""
    group = typer.Typer(help="Train a model with the beam.", no_args_is_help=True)
    for name, task in COMMANDS.items():
        group.command(name)(command(task))
    return group


def command(task: TaskCommands[E, D, M]) -> Callable[..., None]:
    """The command that trains a model of one task."""
    kind = task.kind
    groups = groups_in(kind.experiment)

    def train_task(
        out: Annotated[Path, typer.Option(help="The run folder to write.")],
        given: Given,
        again: Annotated[
            bool, typer.Option("--resume", help="Go on with the training in --out.")
        ] = False,
        config: Annotated[
            Path | None,
            typer.Option(help=f"A TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None, typer.Option(help="A run folder whose weights are the first ones.")
        ] = None,
        device: Device = "cpu",
        threads: Threads = 1,
        quiet: Annotated[bool, typer.Option(help="Show errors only.")] = False,
    ) -> None:
        console = Console(stderr=True, quiet=quiet)
        set_up(device, threads)
        values = settings(config, given, warm_start)
        source = "" if config is None else str(config)
        if again and (out.exists() or "train" not in values["data"]):
            check_unchanged(kind, out, values, source)
            prepared = resume(kind, out, device, report=partial(say, console))
        else:
            check_free(out, ABOUT, "a comparison")
            prepared = begin(kind, parse(kind.experiment, values, source), out, device)
        for sentence in remarks(prepared.experiment, prepared.training.stopped, out):
            say(console, sentence)
        try:
            train_model(task, prepared, console, out)
        except KeyboardInterrupt:
            anew = piped(prepared.experiment)
            way = "It has to be begun anew." if anew else "The same command with --resume goes on."
            say(console, f"Interrupted. {way}")
            raise typer.Exit(130) from None

    train_task.__doc__ = task.help
    return with_settings(**groups)(train_task)


def settings(config: Path | None, given: Given, warm_start: str | None) -> dict[str, Any]:
    """The settings of a TOML file, and over them those of the command line."""
    values: dict[str, Any] = {"data": {}, **({} if config is None else read_toml(config))}
    for group, options in given.items():
        under = values.get(group, {})
        if not isinstance(under, dict):
            raise SettingsError(f"{config}: `{group}` must be a table, but {under!r} came.")
        if options:
            values[group] = {**under, **options}
    for name in ("train", "dev"):
        path = values["data"].get(name)
        if isinstance(path, str) and path != "-":
            values["data"][name] = str(Path(path).absolute())
    return {**values, **({} if warm_start is None else {"warm_start": warm_start})}


def check_free(out: Path, sign: str, what: str) -> None:
    """Refuse a folder that holds something else: what reads it could not tell which is meant."""
    if (out / sign).exists():
        raise SettingsError(
            f"`out` must be a folder of its own, but {out} holds {what}; choose another --out."
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
        yield "The data comes from standard input: if it is interrupted, it has to be begun anew."
    if learning.row.width == 1 < learning.final_width:
        yield (
            f"{learning.algorithm} is meant for a beam of 1, and is trained with one of "
            f"{learning.final_width}, which is another algorithm. To decode with a wider beam than "
            "in training, leave out --width here, and give it to evaluate and predict."
        )


def piped(experiment: Experiment) -> bool:
    """Does the data come from standard input, which cannot be read again?"""
    return experiment.data is not None and "-" in (experiment.data.train, experiment.data.dev)


def check_unchanged(kind: Kind[E, D, M], out: Path, values: Mapping[str, Any], source: str) -> None:
    """Refuse to go on with other settings than the training began with."""
    began = read_experiment(kind, Run.open(out))
    merged = began.model_dump(mode="json")
    for name, value in values.items():
        known = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = {**merged[name], **value} if known else value
    wanted = parse(kind.experiment, merged, source).resolved()
    if changed := began.changed(wanted, out):
        raise SettingsError(f"{changed}; leave it out to go on, or train anew with another --out.")


def train_model(
    task: TaskCommands[E, D, M], prepared: Prepared[E, D, M], console: Console, out: Path
) -> None:
    """Train to the end, and measure the result on the validation set."""
    kind, model, training = prepared.kind, prepared.model, prepared.training
    with prepared.checkpointer.run.lock():
        say(
            console,
            f"{task.size(model, len(training.examples))}, "
            f"{sum(p.numel() for p in model.scorer.parameters()):,} parameters",
        )
        with Display(console, kind.unit, prepared.judge) as display:
            fit(training, prepared.checkpointer, display)
        dev = prepared.validation
        results = [
            kind.report(model, dev, width).to_json()
            for width in sorted({1, prepared.experiment.learning.final_width})
        ]
        metrics = {"task": kind.name, "examples": len(dev), "results": results}
        prepared.checkpointer.run.save_metrics(metrics)
    for result in results:
        say(console, f"validation, beam {result['width']}: {task.score(result)}")
    say(
        console,
        f"The model is in {out}. Next: {program()} evaluate {out} FILE, or "
        f"{program()} predict {out} FILE",
    )


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)
