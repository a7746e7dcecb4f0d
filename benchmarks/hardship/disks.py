"""A full disk, a read-only one, and a folder that vanishes, each while commands write there."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import final

from .endings import comparison_ending, training_ending
from .rivals import differing
from .sentences import fault
from .small_runs import SmallTask
from .workshop import PATIENCE, Command, Outcome, Workshop

LARGE = 64 << 20
"""Bytes: more than anything here needs."""


@final
@dataclass(frozen=True)
class Disk:
    """A small disk in memory."""

    path: Path

    def clear(self) -> None:
        self.resize(LARGE)
        for path in self.path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def resize(self, size: int) -> None:
        self._mount(f"remount,rw,size={size}")

    def protect(self) -> None:
        self._mount("remount,ro")

    def _mount(self, options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.path)]
        subprocess.run(command, check=True, capture_output=True)


@contextmanager
def small_disk(path: Path) -> Iterator[Disk | None]:
    """Mount a disk while it is used; None where that is not allowed."""
    path.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={LARGE}", "tmpfs", str(path)]
    if sys.platform != "linux" or os.getuid() != 0 or subprocess.run(command).returncode:
        yield None
        return
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", str(path)], check=True)


@final
@dataclass(frozen=True)
class Shortage:
    """What commands did without a disk to write to."""

    hardship: str
    times: int
    met: int
    """How often the command noticed; otherwise it was done before."""
    failures: tuple[str, ...]


def fill_training(
    workshop: Workshop, task: SmallTask, disk: Disk, whole: Path, times: int, draw: random.Random
) -> Shortage:
    """Train on a disk that gets full; then free some space, and go on."""
    wanted, needed, out = training_ending(whole), size_of(whole), disk.path / "run"
    failures, met = [], 0
    for _ in range(times):
        disk.clear()
        disk.resize(draw.randint(4096, needed))
        first = workshop.run(task.training(out))[0]
        disk.resize(LARGE)
        met += first.status != 0
        again = first
        if first.status != 0:
            begun = (out / "config.json").exists()
            more = ["--resume"] if begun else []
            again = workshop.run(Command((*task.training(out).arguments, *more)))[0]
        failures += problems("train on a full disk", first, again)
        if again.status == 0 and (other := differing(training_ending(out), wanted)):
            failures.append(other)
    return Shortage("full disk, train", times, met, tuple(failures))


def fill_comparison(
    workshop: Workshop, task: SmallTask, disk: Disk, whole: Path, times: int, draw: random.Random
) -> Shortage:
    """Compare on a disk that gets full; then free some space, and run it again."""
    wanted, needed, out = comparison_ending(whole), size_of(whole), disk.path / "compared"
    failures, met = [], 0
    for _ in range(times):
        disk.clear()
        disk.resize(draw.randint(needed // 4, needed))
        first = workshop.run(task.comparison(out))[0]
        disk.resize(LARGE)
        met += first.status != 0
        again = workshop.run(task.comparison(out))[0]
        failures += problems("compare on a full disk", first, again)
        if again.status == 0 and (other := differing(comparison_ending(out), wanted)):
            failures.append(other)
    return Shortage("full disk, compare", times, met, tuple(failures))


def fill_prediction(
    workshop: Workshop, task: SmallTask, disk: Disk, run: Path, times: int
) -> Shortage:
    """Predict to a disk that is full; the old file stays, and the new one comes later."""
    out, failures, met = disk.path / "predicted", [], 0
    for _ in range(times):
        disk.clear()
        out.write_bytes(b"old\n")
        disk.resize(4096)
        command = Command.of("predict", run, task.dev, "--output", out)
        first = workshop.run(command)[0]
        met += first.status != 0
        if first.status != 0 and out.read_bytes() != b"old\n":
            failures.append("the old predictions were damaged")
        if left := [one.name for one in disk.path.iterdir() if one.name.endswith(".tmp")]:
            failures.append(f"{left} was left behind")
        disk.resize(LARGE)
        failures += problems("predict to a full disk", first, workshop.run(command)[0])
        out.unlink(missing_ok=True)
    return Shortage("full disk, predict", times, met, tuple(failures))


def protect_everything(
    workshop: Workshop, task: SmallTask, disk: Disk, whole: Path, compared: Path
) -> Shortage:
    """Write to a read-only disk: nothing changes, and each command says why in a sentence."""
    run, old = disk.path / "run", disk.path / "predicted"
    disk.clear()
    shutil.copytree(whole, run, dirs_exist_ok=True)
    shutil.copytree(compared, disk.path / "compared", dirs_exist_ok=True)
    old.write_bytes(b"old\n")
    before = contents(disk.path)
    disk.protect()
    commands = [
        Command((*task.training(run).arguments, "--resume")),
        task.training(disk.path / "new"),
        task.comparison(disk.path / "new"),
        task.comparison(disk.path / "compared"),
        Command.of("predict", run, task.dev, "--output", old),
        Command.of("report", run, "--widths", 1),
        Command.of("inspect", run, task.dev, "--export", disk.path / "page.html"),
    ]
    found = [workshop.run(command)[0] for command in commands]
    failures = [
        f"{one.arguments[:2]} on a read-only disk: {fault(outcome) or 'it claims to have worked'}"
        for one, outcome in zip(commands, found, strict=True)
        if fault(outcome) or outcome.status == 0
    ]
    if contents(disk.path) != before:
        failures.append("a read-only disk changed")
    disk.resize(LARGE)
    met = sum(one.status != 0 for one in found)
    return Shortage("read-only disk", len(found), met, tuple(failures))


def remove_folder(
    workshop: Workshop,
    task: SmallTask,
    folder: Path,
    whole: Path,
    times: int,
    draw: random.Random,
    until: float,
) -> Shortage:
    """Rename the folder of a training while it runs; then rename it back, and go on."""
    wanted, out, away = training_ending(whole), folder / "run", folder / "away"
    failures, met, done = [], 0, 0
    while done < times and time.monotonic() < until:
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(away, ignore_errors=True)
        thief = Thread(target=vanish, args=(out, away, draw.uniform(0, 0.5)))
        thief.start()
        first = workshop.run(task.training(out))[0]
        thief.join()
        if away.exists():
            shutil.rmtree(out, ignore_errors=True)
            away.rename(out)
        done, met = done + 1, met + (first.status != 0)
        begun = (out / "config.json").exists()
        more = ["--resume"] if begun else []
        again = workshop.run(Command((*task.training(out).arguments, *more)))[0]
        failures += problems("train in a folder that vanishes", first, again)
        if again.status == 0 and (other := differing(training_ending(out), wanted)):
            failures.append(other)
    return Shortage("folder vanishes, train", done, met, tuple(failures))


def vanish(out: Path, away: Path, seconds: float) -> None:
    """Rename a folder so many seconds after the first round of its training."""
    patience = time.monotonic() + PATIENCE
    while not (out / "rounds.jsonl").exists() and time.monotonic() < patience:
        time.sleep(0.005)
    time.sleep(seconds)
    out.rename(away)


def problems(name: str, first: Outcome, again: Outcome) -> list[str]:
    """What is wrong with a command that failed, and with the one after it."""
    found = [f"{name}: {wrong}" for wrong in [fault(first)] if wrong]
    if again.status != 0:
        found.append(f"{name}, and again: {again} after {first.err[-300:]}")
    return found


def size_of(folder: Path) -> int:
    """Bytes of all files, in pages."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(-(-size // 4096) * 4096 for size in sizes)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}
