"""`beamlearn predict`."""

from pathlib import Path
from typing import Annotated

import typer

from ..data.text import write_text
from ..tasks.registry import load
from ..training.settings import SettingsError
from .device import Device, Threads, set_up
from .policy import Mixture, Policy, policy_of
from .task import Asked, Layout, given_options
from .tasks import COMMANDS


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
    policy: Policy = None,
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
    if Path(output).exists() and Path(input).exists() and Path(output).samefile(input):
        raise SettingsError(
            f"`output` must be another file than INPUT, which it would replace, but {output} came; "
            "choose another -o."
        )
    set_up(device, threads)
    model, experiment = load(run, device, policy_of(policy, mixture))
    task = COMMANDS[experiment.task]
    listed = nbest or 1
    if width is not None and width < listed:
        raise SettingsError(
            f"`width` must be at least that of --nbest, {listed}, but {width} came; leave out "
            "--width, or widen it."
        )
    asked = Asked(
        input=input,
        width=max(experiment.learning.final_width if width is None else width, listed),
        nbest=listed,
        listing=nbest is not None,
        as_json=as_json,
        options=given_options(task, run, layout=layout, column=column),
    )
    write_text(output, task.predict(model, experiment, asked))
