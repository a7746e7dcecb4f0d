"""`beamlearn certify`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import AsJson


def certify(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    delta: Annotated[float, typer.Option(help="With which probability the bound may fail.")] = 0.05,
    upper: Annotated[
        float | None,
        typer.Option(help="What no loss exceeds.", show_default="from the radius of the weights"),
    ] = None,
    clip: Annotated[
        float | None, typer.Option(help="Certify min(loss, CLIP) in place of the loss.")
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(min=1, help="Judge the run after so many examples.", show_default="all"),
    ] = None,
    with_regret: Annotated[
        bool,
        typer.Option("--regret", help="Find the best policy in hindsight; this takes long."),
    ] = False,
    with_selection: Annotated[
        bool,
        typer.Option("--select", help="Choose one kept iterate, with a bound: --policy selected."),
    ] = False,
    test: Annotated[
        str | None, typer.Option(help="A file to measure the loss of the kept iterates on.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the bound against the number of examples (svg, png).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a run proves: a bound on the loss of the mixture of its iterates, with its parts.

    The run must be one pass over its examples, without dropout, trained with --stream. A bound
    on the losses follows from --radius, or is given as --upper; --clip needs none. Choose these,
    --delta and --examples before you look at the losses.

    [bold]Examples[/bold]

    beamlearn train tag --train t.conllu --model linear --loss upper_bound --stream --epochs 1
    --reduction mean --optimizer gradient --radius 20 --mixture 32 --out runs/proven

    beamlearn certify runs/proven --clip 1

    beamlearn certify runs/proven --clip 1 --regret --select --test test.conllu --figure bound.svg

    beamlearn evaluate runs/proven test.conllu --policy mixture
    """
    from .jobs import certify as job  # loads torch

    job.certify(
        run,
        delta=delta,
        upper=upper,
        clip=clip,
        examples=examples,
        with_regret=with_regret,
        with_selection=with_selection,
        test=test,
        figure=figure,
        as_json=as_json,
    )
