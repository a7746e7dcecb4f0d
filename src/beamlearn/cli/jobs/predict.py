"""What `beamlearn predict` does."""

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...data.windows import Window
from ...engines.part import Part
from ...prediction.bad_sentence import sorted_out
from ...prediction.input import Input, opening
from ...prediction.job import Job
from ...prediction.journal import Identity
from ...prediction.model_digest import model_digest
from ...prediction.target import Target
from ...prediction.workers import Workers
from ...search.sampling import check_log_probabilities
from ...tasks.decoding_width import measured_width
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import Model, PredictionRequest
from ...training.choices import Policy
from ...training.settings import SettingsError
from .memory import free_memory
from .predicting import Predicting, Speaker
from .setup import given_options, set_up

SHARE = 0.8
"""Of the free memory, what one search may need."""


def predict(
    run: Path,
    input: str | None,
    target: Target,
    workers: Workers,
    *,
    texts: Sequence[str],
    width: int | None,
    nbest: int | None,
    sample: int | None,
    seed: int | None,
    as_json: bool,
    flush: bool | None,
    window: int,
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
    check_output(source, target.output)
    live = is_live(source, target.output, flush) and not texts
    workers.check_threads(threads)
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
    given = dict(given_options(task, run, options, task.prediction_options))
    if texts and "layout" in task.options | task.prediction_options:
        given["layout"] = "lines"
    speaker = Speaker()
    width = sample or width
    measured = measured_width(run, policy) if width is None else None
    if measured is not None and measured >= listed:
        speaker.announce(
            f"Decoding with a beam of {measured}, which did as well as any wider one when training "
            "ended; choose another with `width`."
        )
    request = PredictionRequest(
        width=max(width or measured or experiment.learning.decoding_width, listed),
        nbest=listed,
        listing=nbest is not None,
        sample=sample is not None,
        seed=seed or 0,
        as_json=as_json,
        options=given,
        announce=speaker.announce,
        memory=bytes_for(max_memory, workers),
    )
    lines = tuple(line for text in texts for line in text.split("\n"))
    unit = task.sentence_unit(given)
    asked = Input(source, unit, 1 if live else window, lines)
    target.check(asked)
    first, parts = opening(asked.name, asked.cut(), patient=not live or unit == "block")
    answering = task.answering(model, experiment, request, first)
    journaled = asked.kept and target.path is not None
    job = Job(
        run=str(run.absolute()),
        device=device,
        policy=policy,
        digest=model_digest(model, experiment) if journaled or workers.several else "",
        unit=unit,
        answering=answering,
        width=request.width,
        nbest=request.nbest,
        listing=request.listing,
        sample=request.sample,
        seed=request.seed,
        as_json=as_json,
        options=tuple(given.items()),
        memory=request.memory,
        skipping=target.skip_bad is not None,
    )
    check_opening(model, job, first)
    identity = None
    if journaled:
        more = {"threads": threads, "max_memory": max_memory}
        identity = identity_of(asked, job, target.part, nbest, more)
    Predicting(model, job, asked, target, workers, identity, speaker, live).run(parts)


def check_opening(model: Model, job: Job, first: Window) -> None:
    """Refuse an input of another kind; where bad sentences are skipped, the others show it."""
    shown = [first]
    if job.skipping:
        pieces = sorted_out(first, job.unit, job.answering)
        shown = [piece for piece in pieces if isinstance(piece, Window)][:1]
    for window in shown:
        job.answering.check_opening(model, window)


def identity_of(
    input: Input, job: Job, part: Part | None, nbest: int | None, more: Mapping[str, Any]
) -> Identity:
    """What the answers depend on."""
    return {
        "version": version("beamlearn"),
        "input": input.digest(),
        "model": job.digest,
        "policy": job.policy,
        "width": job.width,
        "nbest": nbest,
        "sample": job.sample,
        "seed": job.seed,
        "as_json": job.as_json,
        "window": input.size,
        "device": job.device,
        **{
            name: dict(job.options).get(name)
            for name in ("layout", "column", "tokenizer", "pattern")
        },
        **more,
        "part": None if part is None else str(part),
    }


def bytes_for(gigabytes: float | None, workers: Workers) -> int | None:
    """What a search may need: what was given, or its share of most of what is free."""
    if gigabytes is not None:
        return int(gigabytes * 1e9)
    free = free_memory()
    return None if free is None else int(SHARE * free / (workers.count if workers.several else 1))


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
