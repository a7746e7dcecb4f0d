"""Run many trainings, one process per core; what is done stays done."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from .fit import fit
from .run import CONFIG, Run, RunError
from .tasks.experiment import begin, read_experiment, resume
from .tasks.kinds import TASKS
from .tasks.settings import Experiment


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


class CompareError(RuntimeError):
    """Entries that failed; the message names them."""


def compare(
    entries: Sequence[Entry], out: str | Path, processes: int | None = None
) -> Iterator[tuple[Entry, list[dict[str, Any]]]]:
    """Train and test every entry in its own folder under `out`; yield each when it is done.

    Interrupted at any moment and called again, it goes on where it was: finished entries are
    read back, begun ones resumed. Every process has one thread. When an entry fails, the others
    are still finished before a `CompareError` says which one and why.
    """
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Entries need names of their own, but two are called {twice!r}.")
    workers = processes or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(run_entry, entry, Path(out) / entry.name): entry for entry in entries
        }
        try:
            for done in as_completed(waiting):
                if done.exception() is None:
                    yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)
    failed = {entry.name: done.exception() for done, entry in waiting.items() if done.exception()}
    if failed:
        name, error = next(iter(failed.items()))
        raise CompareError(
            f"{len(failed)} of {len(entries)} entries failed ({', '.join(failed)}); {name}: "
            f"{error} What is done stays done: mend this and compare again."
        ) from error


def run_entry(entry: Entry, folder: Path) -> list[dict[str, Any]]:
    """Train (or go on training) and test one entry; return its results, width by width."""
    torch.set_num_threads(1)
    kind = TASKS[entry.experiment.task]
    if (folder / CONFIG).exists():
        run = Run.open(folder)
        check_same(entry, read_experiment(kind, run), folder)
        measured = run.load_metrics() or {"results": []}
        widths = tuple(result["width"] for result in measured["results"])
        if (measured.get("file"), widths) == (entry.test, entry.widths):
            return list(measured["results"])
        prepared = resume(kind, folder)
    else:
        prepared = begin(kind, entry.experiment, folder)
    run = prepared.keeper.run
    with run.lock():
        fit(prepared.training, prepared.keeper)
        test = kind.read(entry.test, prepared.experiment)
        results = [kind.report(prepared.model, test, width).to_json() for width in entry.widths]
        run.save_metrics({"file": entry.test, "examples": len(test), "results": results})
    return results


def check_same(entry: Entry, begun: Experiment, folder: Path) -> None:
    """Refuse to take the training in a folder for one that it is not."""
    wanted = entry.experiment.resolved()
    if wanted.warm_start is not None:
        wanted = wanted.with_settings(begun.settings)  # came with the weights
    if wanted != begun:
        raise RunError(
            f"{folder} must hold the training of entry {entry.name!r}, but it was begun with other "
            "settings; give the entry another name, or compare in another folder."
        )
