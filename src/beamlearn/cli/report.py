"""`beamlearn report`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import Device, Threads


def report(
    folder: Annotated[
        Path,
        typer.Argument(help="Run folder, or folder of a comparison.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Page to write.", show_default="FOLDER/report.html"),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="For a run: file with right answers to test on.",
            show_default="the validation file",
        ),
    ] = None,
    widths: Annotated[
        str | None,
        typer.Option(
            help="For a run: widths of the beam in testing, as in 1,2,4,8.",
            show_default="1,2,4,8 and the training width",
        ),
    ] = None,
    clip: Annotated[
        float | None, typer.Option(help="For a run: certify min(loss, CLIP) instead of the loss.")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Write a report on a run or a comparison: which algorithm, which width, which errors.

    The report is a single HTML page that needs no network. For a run, the test file is decoded
    at several widths; for a comparison, nothing is decoded.

    [bold]Examples[/bold]

    beamlearn report runs/pos --test test.conllu

    beamlearn report runs/pos --widths 1,4,16 -o pos.html

    beamlearn report cmp
    """
    from .jobs import report as job  # loads torch

    job.report(folder, out, test=test, widths=widths, clip=clip, device=device, threads=threads)
