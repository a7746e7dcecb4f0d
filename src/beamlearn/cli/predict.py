"""`beamlearn predict`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import Device, Layout, Mixture, PolicyName, Threads, policy_of


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    input: Annotated[str, typer.Argument(help="A file, or - for standard input.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="A file, or - for standard output.")
    ] = "-",
    width: Annotated[
        int | None, typer.Option(min=1, help="Of the beam.", show_default="as in training")
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="List the best N outputs for each sentence or source: tagging as JSON lines, "
            "parsing in comments, transduction on lines of their own.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines with confidences.")
    ] = False,
    layout: Layout = None,
    column: Annotated[
        str | None,
        typer.Option(help="Tagging: where to write the tags.", show_default="as in training"),
    ] = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Predict with a model: the same file comes out, with the predictions in it.

    Of transducers, lines come out: source, tab and output.

    [bold]Examples[/bold]

    beamlearn predict runs/pos test.conllu -o tagged.conllu

    zcat test.conllu.gz | beamlearn predict runs/pos - > tagged.conllu

    beamlearn predict runs/pos test.conllu --nbest 3 | head -n 1

    beamlearn predict runs/parser test.conllu --nbest 3 -o parsed.conllu

    beamlearn predict runs/g2p words.txt --nbest 3 -o phones.tsv
    """
    from .jobs import predict as job  # loads torch

    job.predict(
        run,
        input,
        output,
        width=width,
        nbest=nbest,
        as_json=as_json,
        options={"layout": layout, "column": column},
        policy=policy_of(policy, mixture),
        device=device,
        threads=threads,
    )
