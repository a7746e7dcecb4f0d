"""One training on several processes: the same bytes, and the processor time of each process.

DATA is a folder with `ud-english-ewt/{train,dev}.conllu.gz` and
`g2p-sigmorphon2021/eng_us.{train,dev}.tsv.gz`. torchrun starts this script again to measure.
"""

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time, sleep
from typing import Any

import torch
import torch.distributed as dist
from measure import report

from beamlearn.learning.learn import Round
from beamlearn.learning.ranks import Ranks
from beamlearn.tasks.experiment import first_model, read_data, training_of
from beamlearn.tasks.registry import TASKS
from beamlearn.tasks.task import TaskSpec
from beamlearn.training.settings import parse
from beamlearn.training.trainer import Training

ENGLISH, SOUNDS = "ud-english-ewt/{}.conllu.gz", "g2p-sigmorphon2021/eng_us.{}.tsv.gz"
FILES = {"tag": ENGLISH, "parse": ENGLISH, "transduce": SOUNDS}
MODELS: Mapping[str, Mapping[str, Any]] = {
    "transduce": {"transducer": {"model": "transformer", "length_extra": 20}}
}
BATCHES, TIMED = (32, 128), 1000
"""The sizes of batches, and the number of examples that they are drawn from."""
ROUNDS, WARM = 5, 2
"""How many rounds are timed, after some that are not."""
FEW, SHARDS = 96, 4
"""The number of examples and of shards where bytes are compared."""
SMALL = ("--epochs=2", "--beam-start=0", "--width=4", f"--shards={SHARDS}", "--quiet")
KILLS = ((1, 2), (0, 5))
"""Which rank is killed after how many lines of the log."""
Launcher = subprocess.Popen[str]


def torchrun(processes: int, *command: str, restarts: int = 0) -> Launcher:
    """Start processes that find each other."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launch += [f"--nproc-per-node={processes}", f"--max-restarts={restarts}", *command]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(launch, env=environment, stdout=subprocess.PIPE, text=True)


def cut(data: Path, folder: Path, task: str, examples: int) -> list[str]:
    """The files of a task with the first examples only, as options."""
    ends = "\n" if task != "transduce" else ""  # sentences end with an empty line
    options = []
    for part in ("train", "dev"):
        path = folder / f"{task}-{part}-{examples}{'.conllu' if ends else '.tsv'}"
        with gzip.open(data / FILES[task].format(part), "rt", encoding="utf-8") as lines:
            units = lines.read().split("\n" + ends)
        path.write_text("".join(one + "\n" + ends for one in islice(units, examples)))
        options.append(f"--{part}={path}")
    return options


# --- the same bytes -----------------------------------------------------------------------------


def trained(task: str, files: Sequence[str], out: Path, processes: int, *, kill: bool) -> Launcher:
    """Train as the command line does, maybe with processes that are killed and restarted."""
    model = [
        f"--{name.replace('_', '-')}={value}"
        for group in MODELS.get(task, {}).values()
        for name, value in group.items()
    ]
    command = ["-m", "beamlearn", "train", task, *files, f"--out={out}", *model, *SMALL]
    launcher = torchrun(processes, *command, restarts=3 if kill else 0)
    for rank, lines in KILLS if kill else ():
        wait_for_lines(out / "rounds.jsonl", lines)
        os.kill(pid_of(launcher, rank), signal.SIGKILL)
    return launcher


def digest(out: Path) -> str:
    """Of all that a training comes to, but for speeds."""
    parts = [*out.glob("*.safetensors"), *out.glob("checkpoint/*"), out / "config.json"]
    parts += [out / "rounds.jsonl", out / "decoding.json", out / "vocabulary.json"]
    return sha256(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()[:16]


def pid_of(launcher: Launcher, rank: int) -> int:
    """The process of a rank, by what torchrun set in its environment."""
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    mark = f"RANK={rank}".encode()
    return next(
        int(child)
        for child in children
        if mark in Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
    )


def wait_for_lines(log: Path, lines: int) -> None:
    for _ in range(30_000):
        if log.exists() and log.read_bytes().count(b"\n") >= lines:
            return
        sleep(0.02)
    raise TimeoutError(f"{log} has fewer than {lines} lines after ten minutes.")


def same_bytes(data: Path, folder: Path) -> list[dict[str, Any]]:
    """The digest of each task with 1, 2 and 4 processes, and with 2 that are killed."""
    rows: list[dict[str, Any]] = []
    for task in FILES:
        files = cut(data, folder, task, FEW)
        launchers = {}
        for processes, kill in ((1, False), (2, False), (4, False), (2, True)):
            out = folder / f"{task}-{processes}-{kill}"
            launchers[out] = processes, kill, trained(task, files, out, processes, kill=kill)
        for out, (processes, kill, launcher) in launchers.items():
            if launcher.wait() != 0:
                raise RuntimeError(f"{task} on {processes} processes failed.")
            killed, found = len(KILLS) if kill else 0, digest(out)
            rows.append({"task": task, "processes": processes, "killed": killed, "digest": found})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


# --- processor time -----------------------------------------------------------------------------


def training(files: Sequence[str], name: str, batch: int, shards: int) -> Training:
    """A training with the usual settings, whose rounds all have both trajectories."""
    task: TaskSpec[Any, Any, Any] = TASKS[name].load()
    values = {
        "data": dict(one.removeprefix("--").split("=", 1) for one in files),
        "learning": {"batch_size": batch, "shards": shards, "beam_start": 0.0},
        **MODELS.get(name, {}),
    }
    experiment = parse(task.experiment, values).resolved()
    read = read_data(task, experiment)
    model = first_model(task, experiment, read[0], "cpu")
    return training_of(task, model, *read, experiment.learning)


def timed(run: Training) -> float:
    """The median processor seconds of a round, those of other threads included."""
    seconds, before = [], process_time()
    for event in run:
        if isinstance(event, Round):
            seconds.append(process_time() - before)
        if len(seconds) == WARM + ROUNDS:
            break
        before = process_time()
    return median(seconds[WARM:])


def work(folder: Path, shards: int) -> None:
    """What each process measures; the first one prints what the slowest needs, row by row."""
    torch.set_num_threads(1)
    group = None
    if int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo")
        group = dist.group.WORLD
    ranks = Ranks(group)
    for task in FILES:
        files = [f"--{part}={next(folder.glob(f'{task}-{part}-*'))}" for part in ("train", "dev")]
        for batch in BATCHES:
            run = training(files, task, batch, shards)
            run.join(group)
            found = [float(one) for one in ranks.gather(str(timed(run)).encode())]
            if ranks.number == 0:
                print(json.dumps(max(found)), flush=True)
    if group is not None:
        dist.destroy_process_group()


def processor_time(data: Path, folder: Path) -> list[dict[str, Any]]:
    """One process with undivided batches, one with two shards, and two with one each.

    All run at the same time, so that whatever else the machine does meets them alike.
    """
    for task in FILES:
        cut(data, folder, task, TIMED)
    variants = {"one": (1, 1), "one, 2 shards": (1, 2), "two": (2, 2)}
    launchers = {
        name: torchrun(processes, __file__, str(folder), "--work", str(shards))
        for name, (processes, shards) in variants.items()
    }
    seconds = {name: one.communicate()[0].split() for name, one in launchers.items()}
    rows: list[dict[str, Any]]
    rows = [{"task": task, "batch": batch} for task in FILES for batch in BATCHES]
    for place, row in enumerate(rows):
        row |= {name: float(found[place]) for name, found in seconds.items()}
        row["faster"] = row["one"] / row["two"]
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=int, metavar="SHARDS", help="measure, in a process of it")
    given = parser.parse_args(arguments)
    if given.work is not None:
        work(given.data, given.work)
        return
    with TemporaryDirectory() as times, TemporaryDirectory() as runs:
        rows = processor_time(given.data, Path(times))
        report("data_parallel", rows)
        report("data_parallel", rows, digests=same_bytes(given.data, Path(runs)))


if __name__ == "__main__":
    main()
