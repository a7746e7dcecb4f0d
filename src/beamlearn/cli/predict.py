"""`beamlearn predict`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import Device, Layout, Mixture, PolicyName, Threads, policy_of


def predict(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    input: Annotated[str, typer.Argument(help="Input file, or - for standard input.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Output file, or - for standard output.")
    ] = "-",
    width: Annotated[
        int | None, typer.Option(min=1, help="Width of the beam.", show_default="as in training")
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of outputs to list for each sentence or source: taggers write JSON lines, "
            "parsers comments, transducers one line per output.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines, with confidences.")
    ] = False,
    layout: Layout = None,
    column: Annotated[
        str | None,
        typer.Option(help="Tagging: column to write the tags to.", show_default="as in training"),
    ] = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Predict with a trained model.

    Taggers and parsers write the input file with the predictions filled in. Transducers write
    lines of source, tab and output.

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
