"""What `beamlearn serve` does."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from rich.console import Console

from ...check import check_choice
from ...prediction.workers import Workers
from ...serving.limits import Limits
from ...serving.served_model import Precision, ServedModel
from ...serving.service import Service
from ...tasks.decoding_width import default_width
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.task import PredictionRequest
from ...training.choices import Policy
from ...training.settings import SettingsError
from ...web.listening import LOCAL, address_of, bound, check_packages
from ..console import say
from .predict import bytes_for
from .setup import given_options, set_up


def serve(
    run: Path,
    limits: Limits,
    *,
    host: str,
    port: int,
    width: int | None,
    max_memory: float | None,
    options: Mapping[str, str | None],
    precision: str | None,
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Load a model, and serve it until told to stop."""
    check_packages("A model", "serve")
    set_up(device, threads)
    with bound(port, host) as listening:
        model = opened(run, width, max_memory, options, precision, policy, device)
        beam = model.request.width
        if beam > limits.max_width:
            raise SettingsError(
                f"`width` must be at most `max_width`, {limits.max_width}, got {beam}; raise "
                "`max_width`, or choose a smaller `width`."
            )
        if host not in LOCAL:
            say(Console(file=sys.stderr), exposed(host))
        from ...serving.server import serve as serve_until_stopped

        print(
            f"{run} is served at {address_of(listening)} with a beam of {beam} (stop with Ctrl-C).",
            flush=True,
        )
        serve_until_stopped(Service(model, limits), listening, host)


def opened(
    run: Path,
    width: int | None,
    max_memory: float | None,
    options: Mapping[str, str | None],
    precision: str | None,
    policy: Policy,
    device: str,
) -> ServedModel:
    """The model of a run, ready to answer."""
    precise = "double" if device == "cpu" else "single"
    check_choice(precision or precise, get_args(Precision), "precision")
    exact: Precision = "double" if (precision or precise) == "double" else "single"
    model, experiment = load(run, device, policy)
    task = task_named(experiment.task)
    request = PredictionRequest(
        width=width or default_width(run, experiment.learning, policy),
        options=given_options(task, run, options, task.prediction_options),
        memory=bytes_for(max_memory, Workers()),
    )
    return ServedModel(run.resolve().name, task, model, experiment, request, exact)


def exposed(host: str) -> str:
    """The warning for a server that others can reach."""
    return (
        f"Other machines can reach this server, as `host` is {host}. It asks for no password and "
        "encrypts nothing: let only those in who may use it, as with a proxy in front."
    )
