"""`beamlearn predict`."""

from pathlib import Path
from typing import Annotated

import typer

from ..engines.part import Part
from ..prediction.target import Target
from ..prediction.workers import Workers
from .shared_options import Device, Mixture, PolicyName, RunFolder, Threads, policy_of


def predict(
    run: RunFolder,
    input: Annotated[
        str | None, typer.Argument(help="Input file, or - for standard input.")
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A sentence or source, in place of a file. May be repeated."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Output file, or - for standard output.")
    ] = "-",
    width: Annotated[
        int | None,
        typer.Option(min=1, help="Width of the beam.", show_default="as measured by train"),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of outputs to list for each sentence or source: taggers write JSON lines, "
            "parsers comments, transducers one line per output.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of different outputs to draw at random from the model's distribution, in "
            "place of the best: JSON lines, with probabilities and weights.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Random seed of --sample.", show_default="0")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines, with confidences.")
    ] = False,
    layout: Annotated[
        str | None,
        typer.Option(
            help="Format of the file: auto, conllu, columns (tagging), or lines (plain text, one "
            "sentence per line). For taggers and parsers; a transducer always reads lines.",
            show_default="auto",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="How to split plain text for a tagger or parser: auto, blanks, words or "
            "characters.",
            show_default="as in training",
        ),
    ] = None,
    flush: Annotated[
        bool | None,
        typer.Option(
            "--flush/--no-flush",
            help="Answer every sentence as soon as it is read.",
            show_default="on if the input is a terminal",
        ),
    ] = None,
    window: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of sentences that are read, decoded and written at a time. It bounds the "
            "memory.",
        ),
    ] = 4096,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with an output file where a killed run was."),
    ] = False,
    skip_bad: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write sentences that cannot be read to FILE, each with the reason, and go on.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes to decode in.", show_default="this one"),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Where these processes are: processes (of this machine) or dask:tcp://HOST:PORT.",
            show_default="processes",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Predict only part I of N of the file, and write it to OUTPUT.part-I-of-N; "
            "beamlearn join puts the parts together.",
        ),
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Memory in GB that one sentence, source or history may need. Longer ones are "
            "refused.",
            show_default="most of what is free",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="Tagging: column to write the tags to.", show_default="as in training"),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Transduction: only outputs that match a regular expression over their "
            "characters, or over their words with spaces between them.",
        ),
    ] = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Predict with a trained model.

    Taggers and parsers write the input file with the predictions filled in. For plain text, a
    tagger writes a word, a tab and its tag on each line, and a parser writes CoNLL-U. Transducers
    write lines of source, tab and output. A file may have any size: it is read, decoded and
    written window by window.

    [bold]Examples[/bold]

    beamlearn predict runs/pos test.conllu -o tagged.conllu

    beamlearn predict runs/pos --text "The dog barks."

    beamlearn predict runs/pos new.txt --layout lines

    zcat test.conllu.gz | beamlearn predict runs/pos - > tagged.conllu

    beamlearn predict runs/pos test.conllu --nbest 3 | head -n 1

    beamlearn predict runs/parser test.conllu --nbest 3 -o parsed.conllu

    beamlearn predict runs/g2p words.txt --nbest 3 -o phones.tsv

    beamlearn predict runs/pos huge.conllu.gz -o tagged.conllu.gz --workers 8 --resume

    beamlearn predict runs/pos crawled.conllu -o tagged.conllu --skip-bad bad.conllu

    beamlearn predict runs/pos huge.conllu -o tagged.conllu --part 3/16

    beamlearn predict runs/g2p words.txt --sample 10 --seed 1 -o samples.jsonl

    beamlearn predict runs/dates texts.txt --pattern '[0-9]{4}-[0-9]{2}-[0-9]{2}'
    """
    from .jobs import predict as job  # loads torch

    target = Target(output, skip_bad, resume, None if part is None else Part.read(part))
    job.predict(
        run,
        input,
        target,
        Workers(workers, engine),
        texts=text or [],
        width=width,
        nbest=nbest,
        sample=sample,
        seed=seed,
        as_json=as_json,
        flush=flush,
        window=window,
        max_memory=max_memory,
        options={"layout": layout, "column": column, "tokenizer": tokenizer, "pattern": pattern},
        policy=policy_of(policy, mixture),
        device=device,
        threads=threads,
    )
