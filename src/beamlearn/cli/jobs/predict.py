"""What `beamlearn predict` does."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer
from rich.console import Console

from ...data.text import print_text, write_text
from ...search.sampling import check_log_probabilities
from ...tasks.decoding_width import measured_width
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import PredictionRequest
from ...training.choices import Policy
from ...training.settings import SettingsError
from ..console import say, with_progress, without_progress
from ..flags import with_flags
from .memory import free_memory
from .setup import given_options, set_up

FLAGS = {
    "text": "--text",
    "tokenizer": "--tokenizer",
    "width": "--width",
    "max_memory": "--max-memory",
}
"""Of the settings that are named while predictions are made."""
SHARE = 0.8
"""Of the free memory, what one search may need."""


def predict(
    run: Path,
    input: str | None,
    output: str,
    *,
    texts: Sequence[str],
    width: int | None,
    nbest: int | None,
    sample: int | None,
    seed: int | None,
    as_json: bool,
    flush: bool | None,
    max_memory: float | None,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Decode a file or texts, and write the predictions."""
    check_input(input, texts, options.get("layout"))
    check_sample(sample, seed=seed, width=width, nbest=nbest)
    source = "-" if input is None else input
    check_output(source, output)
    live = is_live(source, output, flush) and not texts
    set_up(device, threads)
    model, experiment = load(run, device, policy)
    if sample is not None:
        check_log_probabilities(model.scorer)
    task = task_named(experiment.task)
    listed = nbest or 1
    if width is not None and width < listed:
        raise SettingsError(
            f"`width` must be at least `nbest`, {listed}, got {width}; leave out `width`, or widen "
            "it."
        )
    given = given_options(task, run, options, task.prediction_options)
    speaker = Speaker()
    width = sample or width
    measured = measured_width(run, policy) if width is None else None
    if measured is not None and measured >= listed:
        speaker.announce(
            f"Decoding with a beam of {measured}, which did as well as any wider one when training "
            "ended; choose another with `width`."
        )
    request = PredictionRequest(
        input=source,
        texts=[line for text in texts for line in text.split("\n")],
        window=1 if live else None,
        width=max(width or measured or experiment.learning.decoding_width, listed),
        nbest=listed,
        listing=nbest is not None,
        sample=sample is not None,
        seed=seed or 0,
        as_json=as_json,
        options=given,
        announce=speaker.announce,
        memory=bytes_for(max_memory),
        refuse=speaker.refuse,
        progress=without_progress if live else with_progress,
    )
    write(output, task.predict(model, experiment, request), live)
    if speaker.refused:
        raise typer.Exit(2)


class Speaker:
    """Says things on standard error, and remembers whether something was refused."""

    def __init__(self) -> None:
        self.console, self.refused = Console(stderr=True), False

    def announce(self, sentence: str) -> None:
        """Say what was decided."""
        say(self.console, with_flags(ValueError(sentence), FLAGS))

    def refuse(self, sentence: str) -> None:
        """Say what has no answer."""
        self.refused = True
        self.announce(sentence)


def write(output: str, parts: Iterable[str], live: bool) -> None:
    """Write what was predicted: all at once, or each part as soon as it is known."""
    if not live:
        write_text(output, "".join(parts))
        return
    for part in parts:
        print_text(part)


def bytes_for(gigabytes: float | None) -> int | None:
    """What a search may need: what was given, or most of what is free."""
    if gigabytes is not None:
        return int(gigabytes * 1e9)
    free = free_memory()
    return None if free is None else int(SHARE * free)


def is_live(input: str, output: str, flush: bool | None) -> bool:
    """Is every sentence to be answered at once?"""
    if flush and output != "-":
        raise SettingsError(
            f"`flush` is only for standard output, got `output` = {output}, which is written as a "
            "whole; leave one of them out."
        )
    if flush is None:
        return input == output == "-" and sys.stdin.isatty()
    return flush


def check_input(input: str | None, texts: Sequence[str], layout: str | None) -> None:
    """Refuse both or neither of a file and texts."""
    if (input is None) != bool(texts):
        wrong = "both" if texts else "neither"
        raise SettingsError(f"Give a file as INPUT, or `text`, got {wrong}.")
    if texts and layout not in (None, "lines"):
        raise SettingsError(
            f"`layout` must be lines with `text`, got {layout}; leave one of them out."
        )


def check_sample(sample: int | None, **others: int | None) -> None:
    """Refuse options that go with a sample alone, or not with one."""
    given = [name for name, value in others.items() if value is not None]
    if sample is None and "seed" in given:
        raise SettingsError("`seed` goes with `sample`, got it alone; give both, or neither.")
    wrong = next((name for name in given if name != "seed"), None)
    if sample is not None and wrong is not None:
        raise SettingsError(
            f"`{wrong}` goes with the best outputs, but `sample` draws others, got both; leave one "
            "of them out."
        )


def check_output(input: str, output: str) -> None:
    """Refuse to replace the input."""
    if Path(output).exists() and Path(input).exists() and Path(output).samefile(input):
        raise SettingsError(
            f"`output` must be another file than INPUT, which it would replace, got {output}; "
            "choose another one."
        )
