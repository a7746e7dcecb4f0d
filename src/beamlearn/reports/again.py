"""The exact configuration, and how to run it again."""

import shlex
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ..tasks.settings import Experiment
from ..training.run.records import encode
from ..training.settings import Settings, groups_in
from .part import Part


def train_command(experiment: Experiment, out: Path) -> str | None:
    """The command of a training, with every setting that is not the default; None: it had none.

    Epochs of patience that are not given mean the same as 0: never stop early.
    """
    if experiment.data is None:
        return None
    words = ["beamlearn", "train", experiment.task]
    for group in groups_in(type(experiment)):
        words += changed(getattr(experiment, group))
    if experiment.warm_start is not None:
        words += ["--warm-start", experiment.warm_start]
    return shlex.join([*words, "--out", str(out)])


def changed(settings: Settings) -> Iterator[str]:
    """The options of the settings that are not the default."""
    for name, field in type(settings).model_fields.items():
        found = getattr(settings, name)
        if not field.is_required() and found == field.default:
            continue
        flag = name.replace("_", "-")
        if isinstance(found, bool):
            yield f"--{flag}" if found else f"--no-{flag}"
        else:
            yield from (f"--{flag}", str(0 if found is None else found))


def configuration(command: str | None, settings: dict[str, Any]) -> Part:
    """The part with both."""
    made = f"This page was made by beamlearn {version('beamlearn')} with torch {torch.__version__}."
    whole = ("All settings:", encode(settings, indent=2).decode())
    if command is None:
        told = ("It was fitted in memory, by a program of which nothing is known here.", made)
        return Part("again", "Run it again", told, code=(whole,))
    return Part("again", "Run it again", (made,), code=(("The command:", command), whole))
