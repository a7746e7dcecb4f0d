"""The tasks there are, by the names that run folders and the command line have for them."""

from pathlib import Path
from typing import Any

from ..check import unknown
from ..training.run import CONFIG, Policy, Run, RunError
from . import experiment
from .parsing.task import PARSING
from .settings import Experiment
from .tagging.task import TAGGING
from .task import Kind, Model
from .transduction.task import TRANSDUCTION

TASKS: dict[str, Kind[Any, Any, Any]] = {
    kind.name: kind for kind in (TAGGING, PARSING, TRANSDUCTION)
}


def kind_of(run: Run) -> Kind[Any, Any, Any]:
    """The kind of task that a run folder belongs to."""
    name = str(run.config.get("task"))
    if name not in TASKS:
        raise RunError(f"{run.path / CONFIG}: {unknown(TASKS, name, 'task')}")
    return TASKS[name]


def load(
    path: str | Path, device: str = "cpu", policy: Policy = "best"
) -> tuple[Model, Experiment]:
    """The model of a run folder, whatever its task is, and how it was trained."""
    return experiment.load(kind_of(Run.open(path)), path, device, policy)
