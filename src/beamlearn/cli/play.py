"""`beamlearn play`."""

from pathlib import Path
from typing import Annotated

import typer


def play(
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder to write the page to (index.html), instead of serving it.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port of the server.", show_default="any free port"),
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Drag the scores and costs of a small tree: beam, losses and strategies follow.

    The page is served to this machine only, until Ctrl-C. It computes in the browser, and a link
    to it reproduces what one sees.

    [bold]Examples[/bold]

    beamlearn play

    beamlearn play --port 8000 --no-open

    beamlearn play --export site/play
    """
    from .jobs import play as job  # loads torch

    job.play(export, port, open_browser)
