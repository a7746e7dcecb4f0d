"""`beamlearn certify`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import AsJson


def certify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    delta: Annotated[float, typer.Option(help="Probability that the bound fails.")] = 0.05,
    upper: Annotated[
        float | None,
        typer.Option(
            help="Largest possible loss of an example.",
            show_default="from the radius of the weights",
        ),
    ] = None,
    clip: Annotated[
        float | None, typer.Option(help="Certify min(loss, CLIP) instead of the loss.")
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of examples after which to certify the run.", show_default="all"
        ),
    ] = None,
    with_regret: Annotated[
        bool,
        typer.Option(
            "--regret", help="Also compute the regret against the best policy in hindsight (slow)."
        ),
    ] = False,
    with_selection: Annotated[
        bool,
        typer.Option(
            "--select",
            help="Also select one kept iterate, with its own bound, for --policy selected.",
        ),
    ] = False,
    test: Annotated[
        str | None, typer.Option(help="File to measure the loss of the kept iterates on.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="File (svg or png) for a figure of the bound against the number of examples."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bound the expected loss of the mixture of a run's iterates.

    The run must be one pass over its examples, trained with --stream and without dropout. The
    largest possible loss follows from the --radius of the training, or is given as --upper;
    --clip needs neither. Choose these, --delta and --examples before you look at the losses.

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
