"""Whatever the task of a run folder is: find it, and load the model."""

from pathlib import Path
from typing import Any

from ..check import unknown
from ..training.run import CONFIG, Policy, Run, RunError
from . import experiment
from .registry import TASKS
from .settings import Experiment
from .task import Model, TaskSpec


def task_of(run: Run) -> TaskSpec[Any, Any, Any]:
    """The task that a run folder belongs to."""
    name = str(run.config.get("task"))
    if name not in TASKS:
        raise RunError(f"{run.path / CONFIG}: {unknown(TASKS, name, 'task')}")
    return TASKS[name].load()


def load(
    path: str | Path, device: str = "cpu", policy: Policy = "best"
) -> tuple[Model, Experiment]:
    """The model of a run folder, and how it was trained."""
    return experiment.load(task_of(Run.open(path)), path, device, policy)
