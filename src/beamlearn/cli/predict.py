"""`beamlearn predict`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import track

from ..data.document import Document, read_document
from ..data.text import write_text
from ..settings import SettingsError
from ..tasks.tagging.decode import Tagging, in_order, tag
from ..tasks.tagging.experiment import Experiment, load
from ..tasks.tagging.model import Tagger
from ..tasks.tagging.sentences import Layout
from .device import Device, Threads, set_up


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
        typer.Option(min=1, help="Write JSON lines with the best N taggings of each sentence."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines with confidences.")
    ] = False,
    layout: Annotated[str, typer.Option(help="auto, conllu or columns.")] = "auto",
    column: Annotated[
        str | None, typer.Option(help="Where to write the tags.", show_default="as in training")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Tag a file: the same file comes out, with the predicted column in it.

    [bold]Examples[/bold]

    beamlearn predict runs/pos test.conllu -o tagged.conllu

    zcat test.conllu.gz | beamlearn predict runs/pos - > tagged.conllu

    beamlearn predict runs/pos test.conllu --nbest 3 | head -n 1
    """
    set_up(device, threads)
    tagger, experiment = load(run, device)
    document = read_document(input, cast(Layout, layout))
    place = column or column_of(experiment, document)
    beam = experiment.learning.final_width if width is None else width
    taggings = tag_all(tagger, document, max(beam, nbest or 1), nbest or 1)
    if as_json or nbest is not None:
        text = "".join(json_lines(document, taggings))
    else:
        text = document.rewrite(place, [tagging.tags for tagging in taggings])
    write_text(output, text)


def column_of(experiment: Experiment, document: Document) -> str:
    """The column of training, if it means the same in this file."""
    column, data = experiment.column, experiment.data
    if data is not None and column.lstrip("-").isdecimal():
        learned = Path(data.train).name.removesuffix(".gz").endswith(".conllu")
        if (learned or data.layout == "conllu") != (document.layout == "conllu"):
            raise SettingsError(
                f"`column` must be given as --column, as training had column {column} of a file "
                f"in another layout than {document.path}."
            )
    return column


def tag_all(tagger: Tagger, document: Document, width: int, nbest: int) -> list[Tagging]:
    """The taggings of all sentences in their order, behind a progress bar."""
    console = Console(stderr=True)
    words = document.words()
    done = track(
        tag(tagger, words, width, nbest=nbest),
        "tagging",
        total=len(words),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    return in_order(done)


def json_lines(document: Document, taggings: Sequence[Tagging]) -> Iterator[str]:
    """One JSON object per sentence."""
    for words, tagging in zip(document.words(), taggings, strict=True):
        yield (
            json.dumps(
                {
                    "words": words,
                    "tags": tagging.tags,
                    "confidence": tagging.confidence,
                    "nbest": [vars(hypothesis) for hypothesis in tagging.nbest],
                },
                ensure_ascii=False,
            )
            + "\n"
        )
