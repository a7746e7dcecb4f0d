"""Whatever the task of a run folder is: find it, and load the model."""

from pathlib import Path
from typing import Any

from ..check import unknown
from ..training.run import CONFIG, Policy, Run, RunError
from . import experiment
from .experiment import check_trained_here, from_hugging_face
from .registry import TASKS
from .settings import Experiment
from .task import Model, TaskSpec

HUGGING_FACE_TASK = "transduce"
"""The task of models that come from elsewhere."""


def task_of(run: Run) -> TaskSpec[Any, Any, Any]:
    """The task that a run folder belongs to."""
    check_trained_here(run)
    name = str(run.config.get("task"))
    if name not in TASKS:
        raise RunError(f"{run.path / CONFIG}: {unknown(TASKS, name, 'task')}")
    return TASKS[name].load()


def load(
    path: str | Path, device: str = "cpu", policy: Policy = "best"
) -> tuple[Model, Experiment]:
    """The model of a run folder, and how it was trained.

    A folder of a Hugging Face model is a run that did not begin yet.
    """
    run = Run.open(path)
    if not from_hugging_face(run):
        return experiment.load(task_of(run), path, device, policy)
    if policy != "best":
        raise RunError(
            f"`policy` must be best for the Hugging Face model in {path}, which has no other "
            f"weights, got {policy}; leave it out."
        )
    adopted: tuple[Model, Experiment] = TASKS[HUGGING_FACE_TASK].load().adopt(run.path, device)
    return adopted
