"""`beamlearn evaluate`."""

import json
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..data.text import DataError
from ..settings import SettingsError
from ..tasks.tagging.experiment import load
from ..tasks.tagging.model import Tagger
from ..tasks.tagging.report import TaggingReport, report
from ..tasks.tagging.sentences import Layout, Sentences, read_sentences
from .device import Device, Threads, set_up

COLUMNS = {
    "accuracy": "accuracy",
    "known_accuracy": "known words",
    "unknown_accuracy": "unknown words",
    "sentence_accuracy": "sentences",
    "f1": "span F1",
    "increases_per_example": "cost increases / sentence",
    "search_error_rate": "search errors",
    "calibration_error": "calibration error",
    "words_per_second": "words/s",
}


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    file: Annotated[str, typer.Argument(help="A file with right tags, or - for standard input.")],
    width: Annotated[
        str | None,
        typer.Option(
            help="Of the beam; several as in 1,2,4,8.", show_default="1 and as in training"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    layout: Annotated[str, typer.Option(help="auto, conllu or columns.")] = "auto",
    column: Annotated[
        str | None, typer.Option(help="Where the right tags are.", show_default="as in training")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Compare a model's output with the right one, at several widths of the beam.

    [bold]Examples[/bold]

    beamlearn evaluate runs/pos test.conllu --width 1,2,4,8

    beamlearn evaluate runs/pos test.conllu --json | jq .results[0].accuracy
    """
    set_up(device, threads)
    tagger, experiment = load(run, device)
    widths = sorted({1, experiment.learning.final_width}) if width is None else numbers(width)
    sentences = read_sentences(file, column or experiment.column, cast(Layout, layout))
    check_labels(tagger, sentences, file)
    errors = Console(stderr=True)
    reports = [
        report(tagger, sentences.words, sentences.tags, k)
        for k in track(
            widths,
            "evaluating",
            console=errors,
            transient=True,
            disable=not errors.is_terminal,
        )
    ]
    if as_json:
        results = [found.to_json() for found in reports]
        print(json.dumps({"task": "tag", "examples": len(sentences), "results": results}))
    else:
        wide = None if Console().is_terminal else 200
        Console(width=wide).print(table(reports))


def check_labels(tagger: Tagger, sentences: Sentences, file: str) -> None:
    """Refuse labels of which the model knows none: they are of another kind."""
    found = {tag for tags in sentences.tags for tag in tags}
    if not found & set(tagger.lexicon.tags):
        raise DataError(
            f"{file}: Labels such as {', '.join(tagger.lexicon.tags[:3])} were expected, but the "
            f"model knows none of {', '.join(sorted(found)[:3])}; name another --column."
        )


def numbers(text: str) -> list[int]:
    """Read widths."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) >= 1 for part in parts):
        raise SettingsError(
            f"`width` must be whole numbers of at least 1, as in 1,2,4,8, but {text!r} came."
        )
    return [int(part) for part in parts]


def table(reports: list[TaggingReport]) -> Table:
    """One column per width."""
    shown = Table("", *(f"beam {found.width}" for found in reports))
    rows = [found.to_json() for found in reports]
    for name, label in COLUMNS.items():
        if name in rows[0]:
            shown.add_row(label, *(cell(name, row[name]) for row in rows))
    return shown


def cell(name: str, value: float) -> str:
    """A number as people read it."""
    if name == "words_per_second":
        return f"{value:,.0f}"
    return f"{value:.2f}" if name == "increases_per_example" else f"{value:.2%}"
