"""The exact configuration of a run or comparison, and the command that runs it again."""

import shlex
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ..tasks.settings import Experiment
from ..training.run import Run, RunError
from ..training.run.records import encode
from ..training.settings import Learning, Settings, groups_in, usual_algorithm
from .section import Section


def train_command(experiment: Experiment, out: Path) -> str | None:
    """The command of a training, with all settings that it would not find by itself.

    Those are the ones that differ from the defaults or, with a warm start, from what comes with
    it. None if the model was fitted in memory. A patience of None means the same as 0: never stop
    early.
    """
    if experiment.data is None:
        return None
    words, open = ["beamlearn", "train", experiment.task], experiment.left_open()
    inherited = inherited_settings(experiment)
    groups: dict[str, Settings] = {name: getattr(open, name) for name in groups_in(type(open))}
    if inherited:
        groups[experiment.group] = experiment.settings
    for name, settings in groups.items():
        words += changed(settings, inherited if name == experiment.group else usual(open.learning))
    if experiment.warm_start is not None:
        words += ["--warm-start", experiment.warm_start]
    return shlex.join([*words, "--out", str(out)])


def inherited_settings(experiment: Experiment) -> Mapping[str, Any]:
    """The settings of the model that come with a warm start, if its folder is still there."""
    if experiment.warm_start is None:
        return {}
    try:
        settings = Run.open(experiment.warm_start).config.get(experiment.group)
    except RunError:
        return {}
    return settings if isinstance(settings, Mapping) else {}


def usual(learning: Learning) -> Mapping[str, Any]:
    """The defaults of learning that depend on other settings."""
    return {"algorithm": usual_algorithm(learning.model_dump(), learning.default_algorithm)}


def changed(settings: Settings, usual: Mapping[str, Any]) -> Iterator[str]:
    """The options of the settings that are not as `usual`, or else not the defaults."""
    for name, field in type(settings).model_fields.items():
        found = getattr(settings, name)
        if not field.is_required() and found == usual.get(name, field.default):
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
