"""A watcher that hands the numbers of rounds.jsonl to trackers of experiments."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...check import UsageError, check_choice
from ...learning.learn import Round
from ..checkpointer import round_record, validation_record
from ..run import Run
from ..run.portable import without_paths
from ..trainer import Training, Validation, Watcher

LOGS = {
    "tensorboard": "tensorboard",
    "wandb": "wandb",
    "mlflow": "mlflow",
}
"""The trackers by their names, and the package that each needs."""


class Tracker(ABC):
    """One log of one training; a training that is resumed goes on in the same log."""

    @abstractmethod
    def __init__(self, run: Run, settings: Mapping[str, Any], done: int) -> None:
        """Begin the log of a run, or go on with it after `done` rounds."""

    @abstractmethod
    def log(self, numbers: Mapping[str, float], round: int) -> None:
        """Add what a round or a validation found."""

    @abstractmethod
    def close(self, *, whole: bool) -> None:
        """Write what is left; was the training taken to its end?"""


def check_logs(names: Sequence[str]) -> tuple[str, ...]:
    """Names of trackers, each of which may be a list with commas; refuse what there is not."""
    found = tuple(dict.fromkeys(name for given in names for name in given.split(",") if name))
    for name in found:
        check_choice(name, LOGS, "log")
        if find_spec(LOGS[name]) is None:
            raise UsageError(
                f"`log` = {name} needs the package '{LOGS[name]}', which is not installed; run "
                f"`pip install 'beamlearn[{name}]'`."
            )
    return found


@contextmanager
def logging(names: Sequence[str], training: Training, run: Run) -> Iterator[list[Watcher]]:
    """Watchers that log a training in a run folder, one for each name, for as long as it lasts."""
    settings = dict(flat(without_paths(run.config)))
    with ExitStack() as opened:
        yield [opened.enter_context(tracking(name, training, run, settings)) for name in names]


@contextmanager
def tracking(
    name: str, training: Training, run: Run, settings: Mapping[str, Any]
) -> Iterator[Watcher]:
    """One of them."""
    kind: type[Tracker] = import_module(f"{__package__}.to_{name}").LOG
    tracker = kind(run, settings, training.round)

    def watch(_: Training, event: Round | Validation) -> None:
        found = round_record(event) if isinstance(event, Round) else validation_record(event)
        numbers = {name: float(value) for name, value in found.items() if is_number(name, value)}
        tracker.log(numbers, int(found["round"]))

    try:
        yield watch
    except BaseException:
        tracker.close(whole=False)
        raise
    tracker.close(whole=True)


def is_number(name: str, value: Any) -> bool:
    """Is it one to draw over the rounds?"""
    return name != "round" and isinstance(value, int | float)


def flat(settings: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by their names with their groups.

    >>> dict(flat({"task": "tag", "learning": {"width": 8}}))
    {'task': 'tag', 'learning.width': 8}
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value
