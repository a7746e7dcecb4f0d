"""Many processes that work at one grid, and are killed and restarted; run as a program.

It takes the folder of a comparison, its grid as JSON, how many processes and how many kills. What
they begin and end is in the file journal of the folder.
"""

import json
import os
import random
import signal
import sys
import time
from concurrent.futures import Executor, Future
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from beamlearn.cli.jobs.compare import planned_from
from beamlearn.comparison import runner, trial
from beamlearn.tasks.registry import task_named

SECONDS = 100
"""After which all are killed, and it has failed."""


class Inline(Executor):
    """Works in this process."""

    def submit(self, work, /, *values, **named):
        future = Future()
        try:
            future.set_result(work(*values, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def note(out, *words):
    journal = os.open(out / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(journal, f"{' '.join(map(str, words))}\n".encode())
    os.close(journal)


def work(out, entries):
    """Take part in a comparison, and keep a journal."""
    fit = runner.fit

    def noted(training, checkpointer):
        name = checkpointer.run.path.name
        if training.stopped:  # another process ended it, and was killed before it was tested
            return fit(training, checkpointer)
        checkpointer.seconds = 0.0
        note(out, "begin", name, os.getpid())
        fit(training, checkpointer)
        return note(out, "end", name, os.getpid())

    runner.fit = noted
    trial.LONGEST_PAUSE = 0.5
    for _ in runner.compare(entries, out, executor=Inline()):
        pass


def start(out, entries):
    if child := os.fork():
        return child
    status = 1
    try:
        work(out, entries)
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def ended(workers):
    """Those that have ended by themselves; they must have succeeded."""
    found = set()
    for worker in workers:
        pid, status = os.waitpid(worker, os.WNOHANG)
        if pid:
            assert status == 0, status
            found.add(worker)
    return found


def main(out, grid, processes, kills):
    torch.set_num_threads(1)
    draw, limit = random.Random(0), time.monotonic() + SECONDS
    entries = planned_from(task_named("tag"), grid, "").entries()
    with TemporaryDirectory() as folder:  # what torch loads late is loaded once, not in each fork
        runner.run_entry(entries[0], Path(folder) / "first")
    workers = {start(out, entries) for _ in range(processes)}
    while workers and time.monotonic() < limit:
        time.sleep(draw.uniform(0.02, 0.2))
        workers -= ended(workers)
        if not workers or not kills:
            continue
        owning = {int(path.name.split(".")[2]) for path in out.glob("*/lock.*")} & workers
        victim = draw.choice(sorted(owning if owning and draw.random() < 0.7 else workers))
        note(out, "kill", victim)
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        workers = workers - {victim} | {start(out, entries)}
        kills -= 1
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    print(f"{len(workers)} left, {kills} kills left", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
