"""`beamlearn compare`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import create_model

from ..comparison.grid import COMPARED, Grid
from ..tasks.registry import TASKS, TaskEntry
from ..training.settings import Learning, Settings, groups_in
from .options import Given, with_settings
from .settings import settings
from .shared_options import Device

HELP = """Train in many ways, test each at several widths of the beam, and say which is best.

    One line of the table for each algorithm, or strategy and loss, at each width; a file of
    settings may have a table `compare`, too. Interrupted at any time, the same command goes on.

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
    group = typer.Typer(help="Compare ways to train, side by side.", no_args_is_help=True)
    for name, entry in TASKS.items():
        group.command(name)(command(entry))
    return group


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
        out: Annotated[Path, typer.Option(help="The folder to write.")],
        given: Given,
        config: Annotated[
            Path | None,
            typer.Option(help=f"A TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None,
            typer.Option(help="A run folder whose weights are the first ones of all trainings."),
        ] = None,
        processes: Annotated[
            int | None,
            typer.Option(
                min=1, help="How many train at once, with one thread each.", show_default="cores"
            ),
        ] = None,
        device: Device = "cpu",
        quiet: Annotated[bool, typer.Option(help="Show the table and errors only.")] = False,
    ) -> None:
        values = settings(config, given, warm_start)
        from .jobs import compare as job  # loads torch

        source = "" if config is None else str(config)
        job.compare(
            entry.load(), values, source, out, processes=processes, device=device, quiet=quiet
        )

    compare_task.__doc__ = HELP.format(task=entry.name, files=entry.files)
    return with_settings(**groups)(compare_task)
