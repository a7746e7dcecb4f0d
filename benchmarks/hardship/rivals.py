"""Two commands on one folder at the same time: one works, the other says so, or they share."""

import random
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from .endings import comparison_ending, training_ending
from .sentences import fault
from .small_runs import SmallTask
from .workshop import Command, Outcome, Workshop

APART = 1.5
"""The most seconds between two commands; at random, and often none."""


@final
@dataclass(frozen=True)
class Rivalry:
    """What two commands did to one folder."""

    commands: str
    pairs: int
    refused: int
    """How often one of them was refused."""
    failures: tuple[str, ...]


def rival_trainings(
    workshop: Workshop, task: SmallTask, folder: Path, pairs: int, draw: random.Random, until: float
) -> Rivalry:
    """Begin the same training twice."""
    out = folder / "run"
    workshop.run(task.training(folder / "whole"))

    def begin() -> list[Outcome]:
        shutil.rmtree(out, ignore_errors=True)
        return workshop.run(task.training(out), task.training(out, start_after=apart(draw)))

    def wrong(found: Sequence[Outcome]) -> str | None:
        if sum(one.status == 0 for one in found) != 1:
            return "not exactly one of them trained"
        return differing(training_ending(out), training_ending(folder / "whole"))

    return met("train and train", begin, wrong, pairs, until)


def rival_resumptions(
    workshop: Workshop, task: SmallTask, folder: Path, pairs: int, draw: random.Random, until: float
) -> Rivalry:
    """Go on twice with a training that was killed."""
    out = folder / "run"
    whole = workshop.run(task.training(folder / "whole"))[0]

    def begin() -> list[Outcome]:
        shutil.rmtree(out, ignore_errors=True)
        workshop.run(task.training(out, kill_after=draw.uniform(0.3, 0.9) * whole.seconds))
        again = (*task.training(out).arguments, "--resume")
        return workshop.run(Command(again), Command(again, start_after=apart(draw)))

    def wrong(found: Sequence[Outcome]) -> str | None:
        if not any(one.status == 0 for one in found):
            return "neither of them went on"
        return differing(training_ending(out), training_ending(folder / "whole"))

    return met("train --resume twice", begin, wrong, pairs, until)


def rival_comparisons(
    workshop: Workshop, task: SmallTask, folder: Path, pairs: int, draw: random.Random, until: float
) -> Rivalry:
    """Run the same comparison twice; whatever they say, a third one has the whole table."""
    out = folder / "compared"
    workshop.run(task.comparison(folder / "undisturbed"))

    def begin() -> list[Outcome]:
        shutil.rmtree(out, ignore_errors=True)
        return workshop.run(task.comparison(out), task.comparison(out, start_after=apart(draw)))

    def wrong(found: Sequence[Outcome]) -> str | None:
        again = workshop.run(task.comparison(out))[0]
        if again.status != 0:
            return f"a third one ended with {again}"
        return differing(comparison_ending(out), comparison_ending(folder / "undisturbed"))

    return met("compare and compare", begin, wrong, pairs, until)


def apart(draw: random.Random) -> float:
    return draw.choice((0.0, draw.uniform(0, APART)))


def met(
    name: str,
    begin: Callable[[], list[Outcome]],
    wrong: Callable[[Sequence[Outcome]], str | None],
    pairs: int,
    until: float,
) -> Rivalry:
    """Let commands meet so many times."""
    done = refused = 0
    failures: list[str] = []
    while done < pairs and time.monotonic() < until:
        found = begin()
        done += 1
        refused += any(one.status != 0 for one in found)
        said = [said for one in found if (said := fault(one))]
        if reason := next(iter(said), None) or wrong(found):
            failures.append(f"{name}, pair {done}: {reason} ({[one.err[-300:] for one in found]})")
    return Rivalry(name, done, refused, tuple(failures))


def differing(found: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    """Which part of an ending is another one."""
    wrong = [name for name in wanted if found.get(name) != wanted[name]]
    return f"{wrong[0]} is another one than undisturbed" if wrong else None
