"""One training on several processes: the same bytes, and the processor time of each process.

DATA is a folder with `ud-english-ewt/{train,dev}.conllu.gz` and
`g2p-sigmorphon2021/eng_us.{train,dev}.tsv.gz`. torchrun starts this script again for every row.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
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
MODELS: Mapping[str, Mapping[str, Any]] = {"transduce": {"transducer": {"model": "transformer"}}}
BATCHES, SHARDS, LIMIT = (32, 128), 4, 1500
ROUNDS, WARM = 8, 2
"""How many rounds are timed, after some that are not."""
SMALL = ("--limit=96", "--epochs=2", "--beam-start=0", "--width=4", f"--shards={SHARDS}", "--quiet")
KILLS = ((1, 2), (0, 5))
"""Which rank is killed after how many lines of the log."""


def torchrun(processes: int, *command: str, restarts: int = 0) -> "subprocess.Popen[str]":
    """Start processes that find each other."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launch += [f"--nproc-per-node={processes}", f"--max-restarts={restarts}", *command]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(launch, env=environment, stdout=subprocess.PIPE, text=True)


# --- the same bytes -----------------------------------------------------------------------------


def trained(data: Path, task: str, out: Path, processes: int, *, killed: bool = False) -> str:
    """Train as the command line does; a digest of all that it comes to, but for speeds."""
    train, dev = (str(data / FILES[task].format(part)) for part in ("train", "dev"))
    files = [f"--train={train}", f"--dev={dev}", f"--out={out}"]
    model = ["--model=transformer"] if task == "transduce" else []
    command = ["-m", "beamlearn", "train", task, *files, *model, *SMALL]
    launcher = torchrun(processes, *command, restarts=3 if killed else 0)
    for rank, lines in KILLS if killed else ():
        wait_for_lines(out / "rounds.jsonl", lines)
        os.kill(pid_of(launcher, rank), signal.SIGKILL)
    if launcher.wait() != 0:
        raise RuntimeError(f"{task} on {processes} processes failed.")
    parts = [*out.glob("*.safetensors"), *out.glob("checkpoint/*"), out / "config.json"]
    parts += [out / "rounds.jsonl", out / "decoding.json", out / "vocabulary.json"]
    return sha256(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()[:16]


def pid_of(launcher: "subprocess.Popen[str]", rank: int) -> int:
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


def same_bytes(data: Path) -> Iterator[dict[str, Any]]:
    """The digest of each task with 1, 2 and 4 processes, and of one with killed processes."""
    for task in FILES:
        with TemporaryDirectory() as folder:
            for processes in (1, 2, 4):
                digest = trained(data, task, Path(folder, str(processes)), processes)
                yield {"task": task, "processes": processes, "killed": 0, "digest": digest}
            if task == "tag":
                digest = trained(data, task, Path(folder, "killed"), 2, killed=True)
                yield {"task": task, "processes": 2, "killed": len(KILLS), "digest": digest}


# --- processor time -----------------------------------------------------------------------------


def training(data: Path, name: str, batch: int, shards: int) -> Training:
    """A training with the usual settings, whose rounds all have both trajectories."""
    train, dev = (str(data / FILES[name].format(part)) for part in ("train", "dev"))
    task: TaskSpec[Any, Any, Any] = TASKS[name].load()
    values = {
        "data": {"train": train, "dev": dev, "limit": LIMIT},
        "learning": {"batch_size": batch, "shards": shards, "beam_start": 0.0},
        **MODELS.get(name, {}),
    }
    experiment = parse(task.experiment, values).resolved()
    read = read_data(task, experiment)
    model = first_model(task, experiment, read[0], "cpu")
    return training_of(task, model, *read, experiment.learning)


def timed(run: Training) -> list[float]:
    """Processor seconds of rounds, those of other threads included."""
    seconds, before = [], process_time()
    for event in run:
        if isinstance(event, Round):
            seconds.append(process_time() - before)
        if len(seconds) == WARM + ROUNDS:
            break
        before = process_time()
    return seconds[WARM:]


def work(data: Path, name: str, batch: int, shards: int) -> None:
    """What each process of a row does; the first one prints the median of every process."""
    torch.set_num_threads(1)
    group = None
    if int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo")
        group = dist.group.WORLD
    run = training(data, name, batch, shards)
    run.join(group)
    ranks = Ranks(group)
    found = [json.loads(one) for one in ranks.gather(json.dumps(median(timed(run))).encode())]
    if ranks.number == 0:
        print(json.dumps(found))
    if group is not None:
        dist.destroy_process_group()


def measured(processes: int, *arguments: str) -> float:
    """The median processor seconds of a round, in the process that needs the most."""
    launcher = torchrun(processes, __file__, *arguments)
    told, _ = launcher.communicate()
    return float(max(json.loads(told)))


def processor_time(data: Path) -> Iterator[dict[str, Any]]:
    """One process with the undivided batch, one with two shards, and two with one each."""
    for task in FILES:
        for batch in BATCHES:
            row = [str(data), "--work", task, str(batch)]
            whole, cut = measured(1, *row, "1"), measured(1, *row, "2")
            shared = measured(2, *row, "2")
            yield {
                "task": task,
                "batch": batch,
                "one": whole,
                "one, 2 shards": cut,
                "two": shared,
                "faster": whole / shared,
            }


def told(rows: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows, each shown as it comes."""
    found = []
    for row in rows:
        print(row, file=sys.stderr, flush=True)
        found.append(row)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", nargs=3, metavar=("TASK", "BATCH", "SHARDS"))
    given = parser.parse_args(arguments)
    if given.work is not None:
        task, batch, shards = given.work
        work(given.data, task, int(batch), int(shards))
        return
    times = told(processor_time(given.data))
    report("data_parallel", times, digests=told(same_bytes(given.data)))


if __name__ == "__main__":
    main()
