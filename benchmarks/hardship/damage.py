"""Damage to the files of run folders, one at a time, before every command that reads them."""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from .breakage import change_field, cut, drop_line, flip, nest, overwrite, repeat, shuffle
from .sentences import fault
from .small_runs import SmallTask
from .workshop import Outcome, Workshop

FILES = (
    *("config.json", "vocabulary.json", "rounds.jsonl", "metrics.json", "decoding.json"),
    *("model.safetensors", "checkpoint", "lock"),
)
MODEL = "model.safetensors"
COMMANDS = (
    *("predict", "evaluate", "report", "diagnose", "certify", "inspect", "resume", "compare"),
)
COMPARED = "tag"
"""The task that there is a comparison of, in the folder `compare`."""
BREAKS = (flip, flip, cut, overwrite, change_field, change_field, drop_line, repeat, shuffle, nest)


@final
@dataclass(frozen=True)
class Damaged:
    """What became of commands on damaged run folders."""

    cases: int
    worked: int
    refused: int
    silent: int
    """Commands that used tensors whose bytes were changed: their digest must tell."""
    failures: tuple[str, ...]


@final
@dataclass(frozen=True)
class Case:
    """A command on a folder in which a file was damaged."""

    task: str
    command: str
    file: str
    damage: str


def try_damage(
    workshop: Workshop,
    tasks: dict[str, SmallTask],
    runs: Path,
    scratch: Path,
    cases: int,
    draw: random.Random,
    deadline: float,
) -> Damaged:
    """Damage copies of the folders in `runs`, and run commands on them, until the deadline."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for number, case in zip(range(cases), drawn(tuple(tasks), draw), strict=False):
        if time.monotonic() > deadline:
            break
        copy = scratch / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(runs, copy)
        changed = damage(copy, case, draw)
        outcome = workshop.one(*arguments(case, tasks[case.task], copy))
        if wrong := fault(outcome):
            failures.append(f"{number} {case}: {wrong}")
            shutil.copytree(copy, scratch / f"case-{number}", dirs_exist_ok=True)
        counts["worked" if outcome.status == 0 else "refused"] += 1
        if changed and silently_used(case, outcome):
            counts["silent"] += 1
            failures.append(f"{number} {case}: damaged tensors were used")
    return Damaged(
        counts["worked"] + counts["refused"],
        counts["worked"],
        counts["refused"],
        counts["silent"],
        tuple(failures),
    )


def drawn(tasks: tuple[str, ...], draw: random.Random) -> Iterator[Case]:
    """Cases without end: every command and file in turn, everything else at random."""
    names = [function.__name__ for function in BREAKS] + ["swap", "empty", "delete", "folder"]
    while True:
        for command in COMMANDS:
            for file in FILES:
                task = COMPARED if command == "compare" else draw.choice(tasks)
                yield Case(task, command, file, draw.choice(names))


def damage(copy: Path, case: Case, draw: random.Random) -> bool:
    """Damage the file of a case in the folder of its task, or in that of a comparison.

    Return whether its contents are others now.
    """
    folder = copy / (case.task if case.command != "compare" else "compare/continue-2-seed0")
    path = folder / case.file
    if case.file == "checkpoint":
        path = max(path.iterdir())
    path.touch()
    before = path.read_bytes()
    changes: dict[str, Callable[[], object]] = {
        "swap": lambda: swap(copy, path, draw),
        "empty": lambda: path.write_bytes(b""),
        "delete": path.unlink,
        "folder": lambda: turn_into_folder(path),
    }
    functions = {function.__name__: function for function in BREAKS}
    if case.damage in changes:
        changes[case.damage]()
    else:
        path.write_bytes(functions[case.damage](before, draw))
    return not path.is_file() or path.read_bytes() != before


def turn_into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def swap(copy: Path, path: Path, draw: random.Random) -> None:
    """Put the same file of another run, or another file of the same run, in its place."""
    others = [one for one in copy.rglob("*") if one.is_file() and one != path]
    alike = [one for one in others if one.name == path.name]
    shutil.copyfile(draw.choice(draw.choice((others, alike or others))), path)


def arguments(case: Case, task: SmallTask, copy: Path) -> tuple[object, ...]:
    """The arguments of a command."""
    run, dev = copy / case.task, task.dev
    if case.command == "compare":
        return task.comparison(copy / "compare").arguments
    if case.command == "resume":
        return ("train", task.name, "--resume", "--out", run, "--quiet")
    given: dict[str, tuple[object, ...]] = {
        "predict": (dev, "--output", copy / "predicted"),
        "evaluate": (dev,),
        "diagnose": (dev, "--widths", "1,2", "--limit", 5),
        "inspect": (dev, "--text", "--sentence", 1),
        "certify": ("--clip", 1),
        "report": ("--widths", "1,2", "--out", copy / "page.html"),
    }
    return (case.command, run, *given[case.command])


def silently_used(case: Case, outcome: Outcome) -> bool:
    """Did a command work with a model whose bytes were changed?

    A training that goes on passes over a damaged checkpoint and says so, and rewrites its model.
    Without a model, a report says that there is none.
    """
    reads = case.command in ("predict", "evaluate", "diagnose", "inspect", "report")
    if (case.command, case.damage) == ("report", "delete"):
        return False
    return reads and case.damage != "swap" and case.file == MODEL and outcome.status == 0
