"""`beamlearn train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ..tasks.registry import TASKS, TaskEntry
from ..training.settings import groups_in, parse
from .options import Given, with_settings
from .settings import settings
from .shared_options import Device, Threads

HELP = """Train {summary}.

    [bold]Examples[/bold]

    {examples}
    """


def train_group() -> typer.Typer:
    """The group of commands, one for each task."""
    group = typer.Typer(help="Train a model with the beam.", no_args_is_help=True)
    for name, entry in TASKS.items():
        group.command(name)(command(entry))
    return group


def command(entry: TaskEntry) -> Callable[..., None]:
    """The command that trains a model of one task."""
    groups = groups_in(entry.experiment)

    def train_task(
        out: Annotated[Path, typer.Option(help="Run folder to write.")],
        given: Given,
        resume: Annotated[
            bool, typer.Option("--resume", help="Resume the training in --out.")
        ] = False,
        config: Annotated[
            Path | None,
            typer.Option(help=f"TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None, typer.Option(help="Run folder to take the initial weights from.")
        ] = None,
        device: Device = "cpu",
        threads: Threads = 1,
        quiet: Annotated[bool, typer.Option(help="Show only errors.")] = False,
    ) -> None:
        values = settings(config, given, warm_start)
        source = "" if config is None else str(config)
        if not resume:
            parse(entry.experiment, values, source)  # complain before torch is loaded
        from .jobs import train as job

        job.train(
            entry.load(),
            values,
            source,
            out,
            resuming=resume,
            device=device,
            threads=threads,
            quiet=quiet,
        )

    lines = (f"beamlearn train {entry.name} {options}" for options in entry.examples)
    train_task.__doc__ = HELP.format(summary=entry.summary, examples="\n\n    ".join(lines))
    return with_settings(**groups)(train_task)
