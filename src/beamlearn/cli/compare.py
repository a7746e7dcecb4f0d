"""`beamlearn compare`."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import create_model

from ..comparison.grid import COMPARED, Grid
from ..tasks.registry import TASKS, TaskEntry
from ..training.settings import Learning, Settings, groups_in
from .completion import words
from .help import HelpAll, PlainGroup, with_short_help
from .options import Given, with_settings
from .settings import settings
from .shared_options import Device, Logs

FIRST = ("train", "dev", "test", "out")
THEN = ("algorithms", "losses", "widths", "seeds", "epochs", "config")
"""What the short help shows, beside what is usual for the task."""
HELP = """Train with several algorithms, test at several beam widths, and say which is best.

    The result is a table with a line for each algorithm, or each strategy and loss, at each
    training width. If interrupted, run the same command again to continue.

    [bold]Examples[/bold]

    beamlearn compare {task} --train train.{files} --dev dev.{files} --out cmp

    beamlearn compare {task} --train train.{files} --dev dev.{files} --test test.{files}
    --algorithms log_likelihood,dagger,continue --widths 1,4,8 --test-widths 1,2,4,8
    --baseline log_likelihood --out cmp

    beamlearn compare {task} --train train.{files} --dev dev.{files} --strategies continue,reset
    --losses upper_bound,log_loss_beam --widths 8 --seeds 5 --out cmp
    """


def compare_group() -> typer.Typer:
    """The group of commands, one for each task."""
    group = typer.Typer(
        cls=PlainGroup, help="Compare training algorithms and beam widths.", no_args_is_help=True
    )
    for name, entry in TASKS.items():
        usual = (*FIRST, *entry.usual, *THEN)
        group.command(name, cls=with_short_help(usual))(command(entry))
    return group


@cache
def shared_learning() -> type[Settings]:
    """The settings of learning that all trainings of a comparison have in common."""
    kept: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in Learning.model_fields.items()
        if name not in COMPARED
    }
    return create_model("SharedLearning", __base__=Settings, **kept)


def command(entry: TaskEntry) -> Callable[..., None]:
    """The command that compares models of one task."""
    groups: dict[str, type[Settings]] = {
        "compare": Grid,
        **groups_in(entry.experiment),
        "learning": shared_learning(),
    }

    def compare_task(
        out: Annotated[Path, typer.Option(help="Folder to write.")],
        given: Given,
        config: Annotated[
            Path | None,
            typer.Option(help=f"TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None,
            typer.Option(help="Run folder from which all trainings take their initial weights."),
        ] = None,
        processes: Annotated[
            int | None,
            typer.Option(
                min=1,
                help="Number of processes, with one thread each.",
                show_default="one per core",
            ),
        ] = None,
        engine: Annotated[
            str,
            typer.Option(
                help="Where to train: processes of this machine, dask:ADDRESS of a scheduler, or "
                "slurm or slurm:PARTITION.",
                metavar="processes|dask:ADDRESS|slurm[:PARTITION]",
                autocompletion=words("processes", "dask:", "slurm"),
            ),
        ] = "processes",
        part: Annotated[
            str | None,
            typer.Option(
                help="Train only part I of N of the trainings, and write no table; the same "
                "command without it makes the table.",
                metavar="I/N",
                show_default="all",
            ),
        ] = None,
        log: Logs = None,
        device: Device = "cpu",
        quiet: Annotated[bool, typer.Option(help="Show only the table and errors.")] = False,
        help_all: HelpAll = False,  # noqa: ARG001 (the class of the command answers)
    ) -> None:
        values = settings(config, given, warm_start)
        from .jobs import compare as job  # loads torch

        source = "" if config is None else str(config)
        job.compare(
            entry.load(),
            values,
            source,
            out,
            where=job.Where(engine, processes, part),
            logs=log or (),
            device=device,
            quiet=quiet,
        )

    compare_task.__doc__ = HELP.format(task=entry.name, files=entry.files)
    return with_settings(**groups)(compare_task)
