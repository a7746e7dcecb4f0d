"""Memory and speed of `predict` against the size of a file, and what becomes of it if it is killed.

    python benchmarks/large_files.py WORK
    python benchmarks/large_files.py WORK --sizes 1000000

A small tagger is trained on random words in a few seconds, and decodes greedily files of plain
text with about ten words a line. Each row is a process of its own, of which the system tells the
largest memory. The largest file is decoded again in other ways, and each must come to the same
bytes: killed twice and resumed, in four parts, with two workers, and on a Dask cluster of two
workers of which one is killed. WORK keeps the files; rows that are known are not measured again.
Writes `results/large_files.json`.
"""

import argparse
import filecmp
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from measure import RESULTS, report

SIZES = (1_000, 10_000, 100_000)
TAGS = {"the": "DET", "a": "DET", "old": "ADJ", "man": "NOUN", "dog": "NOUN", "saw": "VERB"}
NETWORK = (
    *("--context", "streaming", "--word-size", "4", "--affix-length", "1", "--affix-size", "2"),
    *("--history-size", "8", "--min-count", "1", "--width", "1", "--epochs", "2"),
)
PARTS = 4
REMOTE = ("dask",)
"""The ways in which other processes, of which the system does not tell, do the work."""
LONGEST = 3600.0
"""The seconds after which a process is given up."""


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    processor: float
    """Seconds of it and of its own workers."""
    megabytes: float
    """The most that it or one of its workers had."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.processor + other.processor,
            max(self.megabytes, other.megabytes),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    train(asked.work)
    for size in asked.sizes:
        source = written(asked.work, size)
        for way in asked.ways if size == max(asked.sizes) else ["undisturbed"]:
            measure(asked.work, source, size, way)


def measure(work: Path, source: Path, size: int, way: str) -> None:
    """Add a row to the results, unless it is there."""
    kept = RESULTS / "large_files.json"
    rows: list[dict[str, Any]] = json.loads(kept.read_text())["rows"] if kept.exists() else []
    if any((row["sentences"], row["way"]) == (size, way) for row in rows):
        return
    output, whole = (work / f"{size}.{name}.txt" for name in (way, "undisturbed"))
    for leftover in work.glob(f"{output.name}*"):
        leftover.unlink()
    began = monotonic()
    spent = WAYS[way](work, source, output)
    rows.append(
        {
            "sentences": size,
            "way": way,
            "seconds": round(monotonic() - began, 1),
            "processor seconds": None if way in REMOTE else round(spent.processor, 1),
            "sentences/s": None if way in REMOTE else round(size / spent.processor),
            "MB": round(spent.megabytes),
            "same bytes": filecmp.cmp(output, whole, shallow=False),
        }
    )
    report("large_files", sorted(rows, key=lambda row: row["sentences"]))


def undisturbed(work: Path, source: Path, output: Path) -> Spent:
    """One process, which nothing happens to."""
    return ended(predict(work, source, output))


def killed(work: Path, source: Path, output: Path) -> Spent:
    """Killed after a third and after two thirds, and resumed each time."""
    size = output.with_name(output.name.replace("killed", "undisturbed")).stat().st_size
    spent = Spent(0, 0)
    for share in (1 / 3, 2 / 3):
        process = predict(work, source, output, "--resume")
        wait_for(output, share * size)
        process.send_signal(signal.SIGKILL)
        spent += ended(process, expected=-signal.SIGKILL)
    return spent + ended(predict(work, source, output, "--resume"))


def parts(work: Path, source: Path, output: Path) -> Spent:
    """In four parts, one after the other, that are joined."""
    spent = Spent(0, 0)
    for number in range(1, PARTS + 1):
        spent += ended(predict(work, source, output, "--part", f"{number}/{PARTS}"))
    return spent + ended(beamlearn("join", str(output)))


def workers(work: Path, source: Path, output: Path) -> Spent:
    """In two processes of this machine."""
    return ended(predict(work, source, output, "--workers", "2"))


def dask(work: Path, source: Path, output: Path) -> Spent:
    """On two workers of a Dask cluster, of which one is killed after a third."""
    from distributed import Client, LocalCluster

    size = output.with_name(output.name.replace("dask", "undisturbed")).stat().st_size
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        engine = f"dask:{cluster.scheduler_address}"
        process = predict(work, source, output, "--engine", engine, "--workers", "2")
        wait_for(output, size / 3)
        os.kill(pids[0], signal.SIGKILL)
        return ended(process)


WAYS: dict[str, Callable[[Path, Path, Path], Spent]] = {
    "undisturbed": undisturbed,
    "killed": killed,
    "parts": parts,
    "workers": workers,
    "dask": dask,
}


def predict(work: Path, source: Path, output: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Begin to decode a file."""
    plain = ("--layout", "lines", "--tokenizer", "blanks", "--width", "1")
    return beamlearn("predict", str(work / "run"), str(source), "-o", str(output), *plain, *options)


def beamlearn(*arguments: str) -> "subprocess.Popen[bytes]":
    """Begin a command."""
    command = [sys.executable, "-m", "beamlearn", *arguments]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD})


ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def ended(process: "subprocess.Popen[bytes]", expected: int = 0) -> Spent:
    """What a process took when it has ended as expected, or has been given up."""
    deadline = monotonic() + LONGEST
    while (found := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        if monotonic() > deadline:
            process.kill()
        sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(found[1])
    if process.returncode != expected:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    usage = found[2]
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def wait_for(output: Path, size: float) -> None:
    """Wait until so much is written."""
    path, deadline = output.with_name(f"{output.name}.partial"), monotonic() + LONGEST
    while not path.exists() or path.stat().st_size < size:
        if monotonic() > deadline or output.exists():
            raise RuntimeError("There was nothing to kill.")
        sleep(0.05)


def train(work: Path) -> None:
    """Train the tagger, unless it is there."""
    if (work / "run").exists():
        return
    draw = random.Random(0)
    rows = ("".join(f"{w}\t{TAGS[w]}\n" for w in sentence(draw)) for _ in range(200))
    (work / "train.tsv").write_text("\n".join(rows))
    files = ("--train", str(work / "train.tsv"), "--column", "2", "--out", str(work / "run"))
    ended(beamlearn("train", "tag", *files, *NETWORK))


def written(work: Path, size: int) -> Path:
    """A file of so many sentences, which is always the same."""
    path = work / f"{size}.txt"
    if not path.exists():
        draw = random.Random(size)
        unfinished = path.with_suffix(".part")
        with unfinished.open("w") as file:
            for _ in range(size):
                file.write(" ".join(sentence(draw)) + "\n")
        os.replace(unfinished, path)
    return path


def sentence(draw: random.Random) -> list[str]:
    """About ten words."""
    return draw.choices(list(TAGS), k=draw.randint(5, 15))


if __name__ == "__main__":
    main()
