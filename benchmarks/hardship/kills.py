"""Kill commands at random moments, and run them again: nothing may be lost or changed."""

import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from beamlearn.prediction.journal import journal_of

from .endings import comparison_ending, training_ending
from .sentences import fault
from .small_runs import SmallTask
from .workshop import Command, Workshop

ATTEMPTS = 60
"""After so many kills in a row, a command may run to its end."""


@final
@dataclass(frozen=True)
class Killed:
    """How often a command was killed, and what came of it."""

    command: str
    kills: int
    endings: int
    """How often it ran to its end after kills."""
    failures: tuple[str, ...]


Again = Callable[[bool, float | None], Command]
"""The command to run: is it to go on, and when is it killed?"""


def kill_training(
    workshop: Workshop, task: SmallTask, folder: Path, kills: int, draw: random.Random, until: float
) -> Killed:
    """Kill `train`, and go on with --resume."""
    epochs = 3 * task.epochs

    def command(going_on: bool, after: float | None) -> Command:
        made = task.training(folder / "run", epochs, kill_after=after)
        return Command((*made.arguments, *(["--resume"] if going_on else [])), after)

    whole = workshop.run(task.training(folder / "whole", epochs))[0]
    wanted = training_ending(folder / "whole")
    check = Check(folder / "run", lambda: training_ending(folder / "run") == wanted)
    return killed(f"train {task.name}", workshop, command, check, kills, whole.seconds, draw, until)


def kill_comparison(
    workshop: Workshop, task: SmallTask, folder: Path, kills: int, draw: random.Random, until: float
) -> Killed:
    """Kill `compare`, and run it again."""

    def command(going_on: bool, after: float | None) -> Command:
        return task.comparison(folder / "compared", kill_after=after)

    whole = workshop.run(task.comparison(folder / "undisturbed"))[0]
    wanted = comparison_ending(folder / "undisturbed")
    check = Check(folder / "compared", lambda: comparison_ending(folder / "compared") == wanted)
    return killed(
        f"compare {task.name}", workshop, command, check, kills, whole.seconds, draw, until
    )


def kill_prediction(
    workshop: Workshop,
    task: SmallTask,
    run: Path,
    folder: Path,
    kills: int,
    draw: random.Random,
    until: float,
) -> Killed:
    """Kill `predict`, and go on with --resume: its output is the old file, or the whole new one."""
    output, old = folder / "predicted", b"old\n"

    def command(going_on: bool, after: float | None) -> Command:
        if not going_on:
            output.write_bytes(old)
            journal_of(output).unlink(missing_ok=True)
        more = ("--window", 2, *(["--resume"] if going_on else []))
        return Command.of("predict", run, task.dev, "--output", output, *more, kill_after=after)

    folder.mkdir(parents=True, exist_ok=True)
    whole = workshop.run(command(False, None))[0]
    wanted = output.read_bytes()
    check = Check(None, lambda: output.read_bytes() == wanted)
    between = Check(None, lambda: output.read_bytes() in (old, wanted))
    name = f"predict {task.name}"
    return killed(name, workshop, command, check, kills, whole.seconds, draw, until, between)


@final
@dataclass(frozen=True)
class Check:
    """What must hold, and the folder to remove before the next try."""

    folder: Path | None
    holds: Callable[[], Any]


def killed(
    name: str,
    workshop: Workshop,
    command: Again,
    check: Check,
    kills: int,
    seconds: float,
    draw: random.Random,
    until: float,
    between: Check | None = None,
) -> Killed:
    """Kill a command so many times in all, always running it to its end after some kills."""
    done = endings = 0
    failures: list[str] = []
    while done < kills and time.monotonic() < until:
        if check.folder is not None:
            shutil.rmtree(check.folder, ignore_errors=True)
        here = 0
        while True:
            last = done >= kills or here >= ATTEMPTS
            after = None if last else draw.uniform(0, seconds)
            outcome = workshop.run(command(here > 0, after))[0]
            done, here = done + outcome.killed, here + outcome.killed
            if between is not None and not between.holds():
                failures.append(f"{name}: neither old nor whole after {here} kills")
            if not outcome.killed:
                break
        endings += 1
        if outcome.status != 0 or fault(outcome):
            failures.append(f"{name}: after {here} kills it ended with {outcome}")
        elif not check.holds():
            failures.append(f"{name}: after {here} kills the end is another one")
    return Killed(name, done, endings, tuple(failures))
