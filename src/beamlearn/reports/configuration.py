"""The exact configuration of a run or comparison, and the command that runs it again."""

import shlex
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ..tasks.settings import Experiment
from ..training.run.records import encode
from ..training.settings import Settings, groups_in
from .section import Section


def train_command(experiment: Experiment, out: Path) -> str | None:
    """The command of a training, with all settings that differ from the defaults.

    None if the model was fitted in memory. A patience of None means the same as 0: never stop
    early.
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
    """The options of the settings that differ from the defaults."""
    for name, field in type(settings).model_fields.items():
        found = getattr(settings, name)
        if not field.is_required() and found == field.default:
            continue
        flag = name.replace("_", "-")
        if isinstance(found, bool):
            yield f"--{flag}" if found else f"--no-{flag}"
        else:
            yield from (f"--{flag}", str(0 if found is None else found))


def configuration(command: str | None, settings: dict[str, Any]) -> Section:
    """The section with the command and all settings."""
    made = f"This page was made by beamlearn {version('beamlearn')} with torch {torch.__version__}."
    whole = ("All settings:", encode(settings, indent=2).decode())
    if command is None:
        sentences = (
            "The model was fitted in memory by a Python program, so there is no command.",
            made,
        )
        return Section("again", "Run it again", sentences, code=(whole,))
    return Section("again", "Run it again", (made,), code=(("The command:", command), whole))
