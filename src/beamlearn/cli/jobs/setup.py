"""What several commands do first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...tasks.task import Options, TaskSpec
from ...training.device import available
from ...training.settings import SettingsError


def set_up(device: str, threads: int) -> str:
    """Check that the device is there, and set the number of threads."""
    torch.set_num_threads(threads)
    return available(device)


def given_options(
    task: TaskSpec[Any, Any, Any],
    run: Path,
    values: Mapping[str, str | None],
    others: frozenset[str] = frozenset(),
) -> Options:
    """The options that were given; refuse those that are neither the task's nor among `others`."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in given.keys() - task.options - others:
        raise SettingsError(
            f"`{name}` is no option for the task of {run}, which is {task.name!r}; leave it out."
        )
    return given
