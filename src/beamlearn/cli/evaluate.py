"""`beamlearn evaluate`."""

from typing import Annotated

import typer

from .shared_options import (
    AsJson,
    Column,
    Device,
    Layout,
    Mixture,
    PolicyName,
    References,
    RunFolder,
    Threads,
    policy_of,
)


def evaluate(
    run: RunFolder,
    file: Annotated[str, typer.Argument(help="File with right answers, or - for standard input.")],
    width: Annotated[
        str | None,
        typer.Option(
            help="Widths of the beam, as in 1,2,4,8.",
            show_default="1 and the one measured by train",
        ),
    ] = None,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Also show where it goes wrong: precision, recall and F1 of each label, "
            "confusions, and the worst outputs, each with a command that shows its search.",
        ),
    ] = False,
    as_json: AsJson = False,
    layout: Layout = None,
    column: Column = None,
    references: References = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Measure how good a model is, at one or several widths of the beam.

    [bold]Examples[/bold]

    beamlearn evaluate runs/pos test.conllu --width 1,2,4,8

    beamlearn evaluate runs/pos test.conllu --errors

    beamlearn evaluate runs/pos test.conllu --json | jq .results[0].accuracy

    beamlearn evaluate runs/parser test.conllu --width 8 --json | jq .results[0].las

    beamlearn evaluate runs/g2p test.tsv --width 1,8 --references merged
    """
    from .jobs import evaluate as job  # loads torch

    job.evaluate(
        run,
        file,
        width,
        errors=errors,
        as_json=as_json,
        options={"layout": layout, "column": column, "references": references},
        policy=policy_of(policy, mixture),
        device=device,
        threads=threads,
    )
