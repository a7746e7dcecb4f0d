"""`beamlearn`: the commands, and what becomes of errors."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from .. import __version__
from .certify import certify
from .compare import compare_group
from .demo_command import demo
from .evaluate import evaluate
from .inspect import inspect
from .predict import predict
from .report import report
from .train import train

app = typer.Typer(
    help="Learn beam search policies by imitation: the beam is part of the model.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(train(), name="train")
app.add_typer(compare_group(), name="compare")
app.command()(predict)
app.command()(evaluate)
app.command()(certify)
app.command()(inspect)
app.command()(report)
app.command()(demo)


def _version(asked: bool | None) -> None:
    if asked:
        print(f"beamlearn {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = None,
) -> None:
    """Learn beam search policies by imitation: the beam is part of the model."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; end with status 2 for wrong input and 1 for a failure, in one sentence."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status."""
    console = Console(stderr=True)
    try:
        typer.main.get_command(app).main(arguments, prog_name="beamlearn")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ValueError as error:
        return fail(console, error, str(error), 2)
    except Exception as error:
        return fail(console, error, f"{type(error).__name__}: {error}", 1)
    return 0


def fail(console: Console, error: Exception, sentence: str, status: int) -> int:
    """Say what went wrong; the traceback is for those who ask for it."""
    if os.environ.get("BEAMLEARN_TRACEBACK"):
        raise error
    console.print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)
    return status
