"""`beamlearn join`."""

from pathlib import Path
from typing import Annotated

import typer


def join(
    output: Annotated[Path, typer.Argument(help="File to write, as predict was given it.")],
    parts: Annotated[
        list[Path] | None,
        typer.Argument(help="Its parts, if they do not stand beside it under their names."),
    ] = None,
) -> None:
    """Put the parts together that predict --part has written.

    Nothing is written unless all parts are there, finished, and made from the same input with the
    same model and options. The parts stay where they are.

    [bold]Examples[/bold]

    beamlearn join tagged.conllu

    beamlearn join tagged.conllu scratch/tagged.conllu.part-*-of-4
    """
    from .jobs import join as job

    job.join(output, parts or [])
