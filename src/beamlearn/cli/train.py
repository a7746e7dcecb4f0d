"""`beamlearn train`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ..tasks.registry import TASKS, TaskEntry
from ..training.settings import groups_in, parse
from .help import HelpAll, PlainGroup, with_short_help
from .options import Given, with_settings
from .settings import settings
from .shared_options import Device, Logs, Threads

FIRST = ("train", "dev", "out")
THEN = ("algorithm", "width", "epochs", "resume", "overwrite", "config")
"""What the short help shows, beside what is usual for the task."""
HELP = """Train {summary}.

    [bold]Examples[/bold]

    {examples}
    """


def train_group() -> typer.Typer:
    """The group of commands, one for each task."""
    group = typer.Typer(cls=PlainGroup, help="Train a model with the beam.", no_args_is_help=True)
    for name, entry in TASKS.items():
        usual = (*FIRST, *entry.usual, *THEN)
        group.command(name, cls=with_short_help(usual))(command(entry))
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
        overwrite: Annotated[
            bool, typer.Option("--overwrite", help="Replace the run that is in --out.")
        ] = False,
        config: Annotated[
            Path | None,
            typer.Option(help=f"TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None, typer.Option(help="Run folder to take the initial weights from.")
        ] = None,
        log: Logs = None,
        device: Device = "cpu",
        threads: Threads = 1,
        quiet: Annotated[bool, typer.Option(help="Show only errors.")] = False,
        help_all: HelpAll = False,  # noqa: ARG001 (the class of the command answers)
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
            overwrite=overwrite,
            logs=log or (),
            device=device,
            threads=threads,
            quiet=quiet,
        )

    lines = (f"beamlearn train {entry.name} {options}" for options in entry.examples)
    train_task.__doc__ = HELP.format(summary=entry.summary, examples="\n\n    ".join(lines))
    return with_settings(**groups)(train_task)
