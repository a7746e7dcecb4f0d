"""`beamlearn report`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import Device, Threads


def report(
    folder: Annotated[
        Path,
        typer.Argument(help="A run folder, or the folder of a comparison.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page to write.", show_default="FOLDER/report.html"),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="A run: a file with right answers to test on.", show_default="that of --dev"
        ),
    ] = None,
    widths: Annotated[
        str | None,
        typer.Option(
            help="A run: of the beam in testing, as in 1,2,4,8.",
            show_default="1,2,4,8 and that of training",
        ),
    ] = None,
    clip: Annotated[
        float | None, typer.Option(help="A run: certify min(loss, CLIP) in place of the loss.")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Write one page on a run or a comparison: which algorithm, which width, where it goes wrong.

    The page needs no network and no other file. A run is decoded at several widths for it; of a
    comparison everything is known.

    [bold]Examples[/bold]

    beamlearn report runs/pos --test test.conllu

    beamlearn report runs/pos --widths 1,4,16 -o pos.html

    beamlearn report cmp
    """
    from .jobs import report as job  # loads torch

    job.report(folder, out, test=test, widths=widths, clip=clip, device=device, threads=threads)
