"""Two trainings at once, each in a process and a run folder of its own, and a view of both."""

from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any, final

import torch
from rich.console import Console

from ...tasks.experiment import begin, read_experiment, resume
from ...tasks.tagging.settings import TaggingExperiment
from ...tasks.tagging.task import TAGGING
from ...training.progress import bars
from ...training.run import CONFIG, Run, RunError
from ...training.shown import Shown
from ...training.trainer import fit

TICK = 0.5
PLAIN_SECONDS = 15.0
"""How often a plain line is printed where there is no terminal."""


@dataclass(frozen=True)
class Job:
    """One training."""

    title: str
    experiment: TaggingExperiment
    folder: Path
    rounds: int
    """How many there will be."""

    @property
    def begun(self) -> bool:
        """Is there a run in its folder?"""
        return (self.folder / CONFIG).exists()

    @property
    def finished(self) -> bool:
        """Is the last epoch over?"""
        records = self.records()
        return bool(records) and records[-1].get("epoch") == self.experiment.learning.epochs

    def records(self) -> list[dict[str, Any]]:
        """What its run folder tells so far."""
        return list(Run.open(self.folder).rounds()) if self.begun else []

    def check(self) -> None:
        """Refuse a folder in which something else was trained."""
        if not self.begun:
            return
        if read_experiment(TAGGING, Run.open(self.folder)) != self.experiment.resolved():
            raise RunError(
                f"{self.folder} must hold this training or nothing, but it holds another one "
                "(of another seed or version, perhaps); choose another --out."
            )


def train(job: Job) -> None:
    """Train to the end on one thread, from the start or from where the folder is."""
    torch.set_num_threads(1)
    if job.begun:
        prepared = resume(TAGGING, job.folder)
    else:
        prepared = begin(TAGGING, job.experiment, job.folder)
    with prepared.checkpointer.held():
        fit(prepared.training, prepared.checkpointer)


def train_together(jobs: Mapping[str, Job], board: "TrainingBoard") -> None:
    """Run every job in a process; show what their folders tell until all are done."""
    with ProcessPoolExecutor(len(jobs), mp_context=get_context("spawn")) as pool, board:
        running: set[Future[None]] = {pool.submit(train, job) for job in jobs.values()}
        while running:
            done, running = wait(running, timeout=TICK)
            for name, job in jobs.items():
                board.show(name, job.records())
            for future in done:
                future.result()


@final
class TrainingBoard(Shown):
    """A bar for each training; without a terminal, a line for each epoch and now and then."""

    def __init__(self, console: Console, jobs: Mapping[str, Job], characters: float) -> None:
        self.console, self.jobs = console, jobs
        self.characters = characters
        """How many characters an utterance of the validation set has."""
        self.progress = bars(console)
        self.bars = {
            name: self.progress.add_task(job.title, total=job.rounds, state="starting")
            for name, job in jobs.items()
        }
        self.shares = dict.fromkeys(jobs, 0.0)
        self.epochs = dict.fromkeys(jobs, 0)
        self.printed = monotonic()

    def show(self, name: str, records: list[dict[str, Any]]) -> None:
        """Bring the state of one training up to date."""
        if not records:
            return
        job = self.jobs[name]
        validations = [record for record in records if "epoch" in record]
        done = records[-1]["round"]
        epochs = job.experiment.learning.epochs
        state = f"epoch {min(epochs, len(validations) + 1)}/{epochs}"
        if validations:
            state += f"  validation {self._accuracy(validations[-1]):.1%}"
        self.progress.update(self.bars[name], completed=done, state=state)
        self.shares[name] = done / job.rounds
        if not self.console.is_terminal:
            self._plain(name, validations)

    def _plain(self, name: str, validations: list[dict[str, Any]]) -> None:
        title, epochs = self.jobs[name].title, self.jobs[name].experiment.learning.epochs
        for found in validations[self.epochs[name] :]:
            accuracy = f"{self._accuracy(found):.1%}"
            self._tell(f"{title}: epoch {found['epoch']}/{epochs}, validation {accuracy}")
        self.epochs[name] = len(validations)
        if monotonic() - self.printed >= PLAIN_SECONDS:
            shares = (f"{job.title} {self.shares[key]:.0%}" for key, job in self.jobs.items())
            self._tell(f"so far: {', '.join(shares)}")

    def _accuracy(self, validation: dict[str, Any]) -> float:
        return max(0.0, 1 - float(validation["validation_cost"]) / self.characters)

    def _tell(self, line: str) -> None:
        self.printed = monotonic()
        self.console.print(line, highlight=False)
