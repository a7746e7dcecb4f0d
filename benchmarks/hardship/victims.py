"""Kill processes that work for a command: it replaces them by itself, and comes to the same end."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

from .endings import comparison_ending, training_ending
from .kills import Killed
from .sentences import PYTHON
from .small_runs import SmallTask, trees
from .workshop import PATIENCE

EPOCHS, SENTENCES = 12, 1500
"""Of a training and of a file to predict, so that there is something to kill."""
FEWEST, MOST = 0.05, 1.5
"""Seconds between a kill and the time when the next victim is looked for."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}

Plan = Callable[[SmallTask, Path, Path, int, random.Random, float], Killed]


@final
class Commanded:
    """A command that runs, and the processes that work for it."""

    def __init__(self, arguments: Sequence[object], errors: Path, mark: str) -> None:
        self.errors, self.mark = errors, mark
        self.begun = time.monotonic()
        with errors.open("w") as said:
            self.process = subprocess.Popen(
                [sys.executable, *map(str, arguments)],
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={**os.environ, **ONE_THREAD},
            )

    def workers(self) -> list[int]:
        """The processes below it whose command line has the mark."""
        found, level = [], [self.process.pid]
        while level:
            level = [child for one in level for child in children(one)]
            found += [one for one in level if self.mark in command_line(one)]
        return found

    def running(self) -> bool:
        return self.process.poll() is None

    def hung(self) -> bool:
        """Does it take longer than anything here? Then it is ended."""
        late = time.monotonic() - self.begun > PATIENCE
        if late:
            self.process.kill()
            self.process.wait()
        return late


def children(pid: int) -> list[int]:
    """The processes that a process has begun, from whichever thread."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:  # it has ended
            continue
    return found


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def victimized(
    name: str,
    begin: Callable[[], Commanded],
    holds: Callable[[], Any],
    most: int,
    kills: int,
    draw: random.Random,
    until: float,
) -> Killed:
    """Run a command until so many of its workers were killed, no more than `most` in one run."""
    done = endings = 0
    failures: list[str] = []
    while done < kills and time.monotonic() < until:
        command, here = begin(), 0
        while command.running() and not command.hung():
            time.sleep(draw.uniform(FEWEST, MOST))
            workers = command.workers()
            if workers and here < most and done + here < kills:
                here += killed(draw.choice(workers))
        done, endings = done + here, endings + 1
        said = command.errors.read_text()
        if command.process.returncode != 0:
            failures.append(f"{name}: after {here} kills {command.process.returncode}: {said}")
        elif not holds():
            failures.append(f"{name}: after {here} kills the end is another one")
        elif PYTHON.search(without_torchrun(said)):
            failures.append(f"{name}: not a sentence: {said[-400:]}")
    return Killed(name, done, endings, tuple(failures))


def killed(pid: int) -> bool:
    """Kill a process, unless it has just ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def without_torchrun(said: str) -> str:
    """What a command says, without the reports that torchrun adds."""
    return "\n".join(line for line in said.splitlines() if "torch/distributed/" not in line)


def kill_predicting_workers(
    task: SmallTask, run: Path, folder: Path, kills: int, draw: random.Random, until: float
) -> Killed:
    """Kill workers of `predict --workers`, which replaces two of them for the same window."""
    folder.mkdir(parents=True, exist_ok=True)
    source, output = folder / "large.conllu", folder / "predicted"
    source.write_text("".join(trees(SENTENCES)))
    command = ("-m", "beamlearn", "predict", run, source, "--window", 10)
    subprocess.run(
        [sys.executable, *map(str, (*command, "-o", folder / "whole"))],
        check=True,
        capture_output=True,
    )

    def begin() -> Commanded:
        output.unlink(missing_ok=True)
        more = ("-o", output, "--workers", 2)
        return Commanded((*command, *more), folder / "errors", "spawn_main")

    def same() -> bool:
        return output.read_bytes() == (folder / "whole").read_bytes()

    return victimized("a worker of predict", begin, same, 2, kills, draw, until)


def kill_comparing_workers(
    task: SmallTask, run: Path, folder: Path, kills: int, draw: random.Random, until: float
) -> Killed:
    """Kill workers of `compare`, which forgives four for each training."""
    folder.mkdir(parents=True, exist_ok=True)
    out, whole = folder / "compared", folder / "undisturbed"
    compare_once(task, whole)

    def begin() -> Commanded:
        shutil.rmtree(out, ignore_errors=True)
        arguments = task.comparison(out, EPOCHS).arguments
        return Commanded(("-m", "beamlearn", *arguments), folder / "errors", "spawn_main")

    def same() -> bool:
        return comparison_ending(out) == comparison_ending(whole)

    return victimized("a worker of compare", begin, same, 4, kills, draw, until)


def compare_once(task: SmallTask, out: Path) -> None:
    arguments = map(str, task.comparison(out, EPOCHS).arguments)
    command = [sys.executable, "-m", "beamlearn", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def kill_ranks(
    task: SmallTask, run: Path, folder: Path, kills: int, draw: random.Random, until: float
) -> Killed:
    """Kill any process of a training that torchrun restarts."""
    folder.mkdir(parents=True, exist_ok=True)
    out, whole = folder / "shared", folder / "alone"

    def arguments(to: Path) -> tuple[str, ...]:
        return ("-m", "beamlearn", *task.training(to, EPOCHS).arguments, "--shards", "2")

    subprocess.run([sys.executable, *arguments(whole)], check=True, capture_output=True)

    def begin() -> Commanded:
        shutil.rmtree(out, ignore_errors=True)
        processes = ("--standalone", "--nproc-per-node=2", "--max-restarts=3")
        launch = ("-m", "torch.distributed.run", *processes)
        return Commanded((*launch, *arguments(out)), folder / "errors", "-m beamlearn train")

    def same() -> bool:
        return training_ending(out) == training_ending(whole)

    return victimized("a rank of torchrun", begin, same, 3, kills, draw, until)


PLANS: Mapping[str, tuple[Plan, int]] = {
    "a worker of predict": (kill_predicting_workers, 8),
    "a worker of compare": (kill_comparing_workers, 6),
    "a rank of torchrun": (kill_ranks, 6),
}
"""What is done to workers, and how often."""
