"""`beamlearn inspect`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import (
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


def inspect(
    run: RunFolder,
    input: Annotated[
        str | None,
        typer.Argument(
            help="File with right answers, or - for standard input.",
            show_default="the run's validation file",
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Run folder of a second model, to show on the same input.")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            min=1, help="Width of the beam, at most 64.", show_default="as measured by train"
        ),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            help="Number of the sentence in the file, from 1; with --export or --text also a "
            "range, as in 1-5."
        ),
    ] = None,
    errors: Annotated[
        str | None,
        typer.Option(
            metavar="search|model|any",
            help="Go through the errors in the file only: those of the search (the model prefers "
            "a better output, but the beam lost it), those of the model, or any.",
        ),
    ] = None,
    typed: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Input to show instead of a file.")
    ] = None,
    right: Annotated[
        str | None, typer.Option(metavar="OUTPUT", help="Right output for --typed.")
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File to write the page to, instead of serving it."),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Print the search as text, instead of serving a page.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port of the server.", show_default="any free port"),
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    hf: Annotated[
        bool,
        typer.Option("--hf", help="Require RUN to be the folder of a Hugging Face model."),
    ] = False,
    layout: Layout = None,
    column: Column = None,
    references: References = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Show a search step by step: what the beam kept, and where it dropped the best output.

    The page is served to this machine only, until Ctrl-C.

    [bold]Examples[/bold]

    beamlearn inspect runs/pos test.conllu

    beamlearn inspect runs/pos test.conllu --against runs/likelihood --sentence 7

    beamlearn inspect runs/pos test.conllu --errors search

    beamlearn inspect runs/pos --typed "the dog barks" --right "DET NOUN VERB" --text

    beamlearn inspect runs/g2p --sentence 1-5 --export searches.html

    beamlearn inspect --hf models/t5-small pairs.tsv --text
    """
    from .jobs import inspect as job  # loads torch

    job.inspect(
        run,
        input,
        against=against,
        width=width,
        sentence=sentence,
        errors=errors,
        typed=typed,
        right=right,
        export=export,
        text=text,
        port=port,
        open_browser=open_browser,
        hf=hf,
        options={"layout": layout, "column": column, "references": references},
        policy=policy_of(policy, mixture),
        device=device,
        threads=threads,
    )
