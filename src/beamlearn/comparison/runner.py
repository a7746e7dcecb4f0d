"""Run many trainings, one process per core; what is done stays done."""

import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

import torch

from ..tasks.experiment import begin, read_experiment, resume
from ..tasks.registry import task_named
from ..tasks.settings import Experiment
from ..training.run import CONFIG, Run, RunError
from ..training.trainer import fit

Results = list[dict[str, Any]]
"""One report for each test width."""


@dataclass(frozen=True)
class Entry:
    """One training to compare, and the widths to test it at."""

    name: str
    """Also of its run folder."""
    experiment: Experiment
    """Of any task."""
    widths: tuple[int, ...]
    test: str
    """The file to test on."""
    costs: bool = False
    """Keep the cost of each test example and profiles, and notice a changed test file?"""
    device: str = "cpu"


class CompareError(RuntimeError):
    """Entries that failed; the message names them, and `failed` has the error of each."""

    def __init__(self, message: str, failed: dict[str, BaseException]) -> None:
        super().__init__(message)
        self.failed = failed


def compare(
    entries: Sequence[Entry],
    out: str | Path,
    processes: int | None = None,
    *,
    on_failure: Callable[[Entry, BaseException], None] | None = None,
) -> Generator[tuple[Entry, Results], None, None]:
    """Train and test every entry in its own folder under `out`; yield each when it is done.

    Interrupted at any moment and called again, it goes on where it was: finished entries are
    read back, begun ones resumed. Every process has one thread. When an entry fails, `on_failure`
    hears of it at once, and the others are still finished before a `CompareError` says which one
    failed and why.
    """
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Entries need names of their own, but two are called {twice!r}.")
    failed: dict[str, BaseException] = {}
    with workers(processes or os.cpu_count() or 1) as pool:
        with undisturbed():
            waiting = {
                pool.submit(run_entry, entry, Path(out) / entry.name): entry for entry in entries
            }
        for done in as_completed(waiting):
            if error := done.exception():
                failed[waiting[done].name] = error
                if on_failure is not None:
                    on_failure(waiting[done], error)
            else:
                yield waiting[done], done.result()
    if failed:
        ordered = {name: failed[name] for name in names if name in failed}
        name, error = next(iter(ordered.items()))
        raise CompareError(
            f"{len(failed)} of {len(entries)} entries failed ({', '.join(ordered)}); {name}: "
            f"{error} What is done stays done: fix this and compare again.",
            ordered,
        ) from error


@contextmanager
def workers(processes: int) -> Iterator[Executor]:
    """Processes to run entries in; whatever ends this one ends them, at once."""
    others = active_children()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=serve)
    try:
        yield pool
    except BaseException:
        for child in active_children():
            if child not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave interrupts to this process: those that begin meanwhile never notice them.

    Only the main thread may say so; elsewhere nothing changes.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def serve() -> None:
    """In a process of its own: leave interrupts to the process that began it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Wait until the process that began this one is gone, even if it was killed."""
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def run_entry(entry: Entry, folder: Path) -> Results:
    """Train (or go on training) and test one entry; return its results, width by width."""
    torch.set_num_threads(1)
    task = task_named(entry.experiment.task)
    if (folder / CONFIG).exists():
        run = Run.open(folder)
        check_same(entry, read_experiment(task, run), folder)
        if (results := known_results(entry, run)) is not None:
            return results
        prepared = resume(task, folder, entry.device)
    else:
        prepared = begin(task, entry.experiment, folder, entry.device)
    run, model = prepared.checkpointer.run, prepared.model
    with run.lock():
        fit(prepared.training, prepared.checkpointer)
        test = task.read(entry.test, prepared.experiment)
        found = [task.report(model, test, width) for width in entry.widths]
        results = [one.to_json() for one in found]
        metrics = {"file": entry.test, "examples": len(test), "results": results}
        if entry.costs:
            costs = [one.evaluation.costs.tolist() for one in found]
            profiles = [one.profile.to_json() for one in found]
            metrics |= {"fingerprint": test.digest, "costs": costs, "profiles": profiles}
        run.save_metrics(metrics)
    return results


def known_results(entry: Entry, run: Run) -> Results | None:
    """What was measured before, if it is what the entry asks for."""
    metrics = run.load_metrics() or {"results": []}
    results: Results = metrics["results"]
    widths = tuple(result["width"] for result in results)
    if (metrics.get("file"), widths) != (entry.test, entry.widths):
        return None
    if entry.costs:
        test = task_named(entry.experiment.task).read(entry.test, entry.experiment)
        kept = {"costs", "profiles"} <= metrics.keys()
        if not kept or metrics["fingerprint"] != test.digest:
            return None
    return results


def check_same(entry: Entry, begun: Experiment, folder: Path) -> None:
    """Refuse to take the training in a folder for one that it is not."""
    wanted = entry.experiment.resolved()
    if wanted.warm_start is not None:
        wanted = wanted.with_settings(begun.settings).decided()  # came with the weights
    if changed := begun.changed(wanted, folder):
        raise RunError(f"{changed}; compare in another folder.")
