"""`beamlearn`: the commands, and what becomes of errors."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import lru_cache
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
from rich.console import Console

from ..data.atomic import FULL, DiskFullError
from ..hub.client import HubError
from ..tasks.registry import TASKS, TaskEntry
from .certify import certify
from .compare import compare_group
from .demo.command import demo
from .diagnose import diagnose
from .evaluate import evaluate
from .export import export
from .flags import flags_of, training_flags, with_flags
from .help import PlainCommand, in_order
from .inspect import inspect
from .join import join
from .play import play
from .predict import predict
from .push import push
from .report import report
from .serve import serve
from .torchrun import Launch
from .train import train_group

SUMMARY = "Learn beam search policies by imitation: the beam is part of the model."
COMMANDS = (
    *("demo", "play", "train", "evaluate", "predict", "serve", "inspect", "diagnose", "compare"),
    *("report", "certify", "export", "push", "join"),
)
"""In the order in which people come to need them."""


def app() -> typer.Typer:
    """All commands, those of every task that is registered among them."""
    commands = typer.Typer(
        cls=in_order(*COMMANDS),
        help=SUMMARY,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    commands.callback(help=SUMMARY)(options)
    commands.add_typer(train_group(), name="train")
    commands.add_typer(compare_group(), name="compare")
    explaining = (inspect, diagnose, report, certify)
    for command in (demo, play, evaluate, predict, serve, *explaining, export, push, join):
        commands.command(cls=PlainCommand)(command)
    return commands


@lru_cache(maxsize=1)
def commands_with(tasks: tuple[TaskEntry, ...]) -> Any:  # noqa: ARG001 (what they depend on)
    """What typer makes of all commands; that takes a while, so it is made once for these tasks."""
    return typer.main.get_command(app())


def _version(asked: bool | None) -> None:
    if asked:
        print(f"beamlearn {installed_version('beamlearn')}")
        raise typer.Exit


def options(
    version: Annotated[
        bool | None,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = None,
) -> None:
    """What comes before a command."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; end with status 2 for wrong input and 1 for a failure, in one sentence."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status.

    Of several processes that share a training, only the first one shows what all of them know.
    """
    console = Console(file=sys.stderr)
    silent = arguments[:1] == ["train"] and not Launch.here().speaks
    commands = commands_with(tuple(TASKS.values()))
    try:
        with muted() if silent else nullcontext():
            commands.main(arguments, prog_name="beamlearn")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ValueError as error:
        flags, training = flags_of(commands, arguments), training_flags(commands, arguments)
        told = with_flags(error, flags, arguments, training)
        return 2 if silent else fail(console, error, told, 2)
    except OSError as error:
        return fail(console, error, of_the_system(error), 1)
    except HubError as error:
        return fail(console, error, str(error), 1)
    except Exception as error:
        return fail(console, error, f"{type(error).__name__}: {error}", 1)
    return 0


@contextmanager
def muted() -> Iterator[None]:
    """Show nothing of what is printed."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def of_the_system(error: OSError) -> str:
    """What went wrong with a file or a disk, in words."""
    if isinstance(error, DiskFullError):
        return str(error)
    if error.errno in FULL:
        return f"The output cannot be written ({error.strerror}); free some space, and try again."
    if error.filename is None or error.strerror is None:
        return f"{type(error).__name__}: {error}"
    return (
        f"{error.filename} cannot be read or written ({error.strerror}); check that it is there, "
        "and that you may change it."
    )


def fail(console: Console, error: Exception, sentence: str, status: int) -> int:
    """Say what went wrong; the traceback is for those who ask for it."""
    if os.environ.get("BEAMLEARN_TRACEBACK"):
        raise error
    console.print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)
    return status
