"""`beamlearn demo`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure and the numbers.")] = Path(
        "beamlearn-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> None:
    """Train the same network without and with the beam, and compare them (two minutes).

    [bold]Example[/bold]

    beamlearn demo --out demo
    """
    from .story import run_demo  # loads torch

    try:
        run_demo(Console(), out, seed=seed)
    except KeyboardInterrupt:
        Console(stderr=True).print("Interrupted. The same command goes on.")
        raise typer.Exit(130) from None
