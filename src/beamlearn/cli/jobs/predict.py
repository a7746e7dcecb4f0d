"""What `beamlearn predict` does."""

from collections.abc import Mapping
from pathlib import Path

from ...data.text import write_text
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import PredictionRequest
from ...training.choices import Policy
from ...training.settings import SettingsError
from ..console import with_progress
from .setup import given_options, set_up


def predict(
    run: Path,
    input: str,
    output: str,
    *,
    width: int | None,
    nbest: int | None,
    as_json: bool,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Decode a file and write the predictions."""
    if Path(output).exists() and Path(input).exists() and Path(output).samefile(input):
        raise SettingsError(
            f"`output` must be another file than INPUT, which it would replace, got {output}; "
            "choose another one."
        )
    set_up(device, threads)
    model, experiment = load(run, device, policy)
    task = task_named(experiment.task)
    listed = nbest or 1
    if width is not None and width < listed:
        raise SettingsError(
            f"`width` must be at least `nbest`, {listed}, got {width}; leave out `width`, or widen "
            "it."
        )
    request = PredictionRequest(
        input=input,
        width=max(experiment.learning.decoding_width if width is None else width, listed),
        nbest=listed,
        listing=nbest is not None,
        as_json=as_json,
        options=given_options(task, run, options),
        progress=with_progress,
    )
    write_text(output, task.predict(model, experiment, request))
