"""`beamlearn train`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..display import Display
from ..fit import fit
from ..program import program
from ..run import Run
from ..settings import Learning, SettingsError, parse, read_toml
from ..tasks.tagging.experiment import (
    Experiment,
    Prepared,
    begin,
    read_experiment,
    resume,
)
from ..tasks.tagging.report import report
from ..tasks.tagging.sentences import DataSettings
from ..tasks.tagging.settings import TaggerSettings
from .device import Device, Threads, set_up
from .options import Given, with_settings

train = typer.Typer(help="Train a model with the beam.", no_args_is_help=True)


@train.callback()
def group() -> None:
    """Train a model with the beam."""


@train.command("tag")
@with_settings(data=DataSettings, learning=Learning, tagger=TaggerSettings)
def tag(
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    given: Given,
    again: Annotated[
        bool, typer.Option("--resume", help="Go on with the training in --out.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(help="A TOML file with settings in its tables data, tagger and learning."),
    ] = None,
    warm_start: Annotated[
        str | None, typer.Option(help="A run folder whose weights are the first ones.")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
    quiet: Annotated[bool, typer.Option(help="Show errors only.")] = False,
) -> None:
    """Train a tagger: one label for each word.

    [bold]Examples[/bold]

    beamlearn train tag --train train.conllu --dev dev.conllu --column upos --out runs/pos

    beamlearn train tag --train ner.tsv --column 2 --constrained --width 1:8 --out runs/ner

    beamlearn train tag --out runs/pos --resume
    """
    console = Console(stderr=True, quiet=quiet)
    set_up(device, threads)
    values = settings(config, given, warm_start)
    source = "" if config is None else str(config)
    if again and (out.exists() or "train" not in values["data"]):
        check_unchanged(out, values, source)
        prepared = resume(out, device, report=partial(say, console))
    else:
        prepared = begin(parse(Experiment, values, source), out, device)
    try:
        train_tagger(prepared, console, out)
    except KeyboardInterrupt:
        say(console, "Interrupted. The same command with --resume goes on.")
        raise typer.Exit(130) from None


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


def check_unchanged(out: Path, values: Mapping[str, Any], source: str) -> None:
    """Refuse to go on with other settings than the training began with."""
    began = read_experiment(Run.open(out))
    merged = began.model_dump(mode="json")
    for name, value in values.items():
        known = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = {**merged[name], **value} if known else value
    wanted = flat(parse(Experiment, merged, source).resolved())
    for name, kept in flat(began).items():
        if wanted[name] not in (kept, "auto"):
            was = "not given" if kept is None else repr(kept)
            raise SettingsError(
                f"`{name}` was {was} when the training in {out} began, but {wanted[name]!r} came; "
                "leave it out to go on, or train anew with another --out."
            )


def flat(experiment: Experiment) -> dict[str, Any]:
    """All settings by their names alone, which are different in every group."""
    found: dict[str, Any] = {"warm_start": experiment.warm_start}
    for group in (experiment.data, experiment.tagger, experiment.learning):
        found |= {} if group is None else group.model_dump()
    return found


def train_tagger(prepared: Prepared, console: Console, out: Path) -> None:
    """Train to the end, and measure the result on the validation set."""
    training, learning = prepared.training, prepared.experiment.learning
    with prepared.keeper.run.lock():
        say(
            console,
            f"{len(training.examples):,} sentences, {len(prepared.tagger.lexicon.tags)} tags, "
            f"{sum(p.numel() for p in prepared.tagger.scorer.parameters()):,} parameters",
        )
        with Display(console, "words", prepared.judge) as display:
            fit(training, prepared.keeper, display)
        dev = prepared.validation
        results = [
            report(prepared.tagger, dev.words, dev.tags, width).to_json()
            for width in sorted({1, learning.final_width})
        ]
        prepared.keeper.run.save_metrics({"task": "tag", "examples": len(dev), "results": results})
    for result in results:
        score = f"accuracy {result['accuracy']:.2%}"
        if "f1" in result:
            score += f", span F1 {result['f1']:.2%}"
        say(console, f"validation, beam {result['width']}: {score}")
    say(
        console,
        f"The model is in {out}. Next: {program()} evaluate {out} FILE, or "
        f"{program()} predict {out} FILE",
    )


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)
