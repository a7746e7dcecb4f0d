"""Run many trainings, one process per core; what is done stays done."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..engines.local import local_processes, undisturbed
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
    with local_processes(processes) as pool:
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
    metrics = run.load_metrics() or {}
    results: Results = metrics.get("results", [])
    try:
        widths = tuple(result["width"] for result in results)
    except (KeyError, TypeError):  # it was damaged, and can be measured again
        return None
    if (metrics.get("file"), widths) != (entry.test, entry.widths):
        return None
    if entry.costs:
        test = task_named(entry.experiment.task).read(entry.test, entry.experiment)
        kept = {"costs", "profiles"} <= metrics.keys()
        if not kept or metrics.get("fingerprint") != test.digest:
            return None
        if not whole(metrics["costs"], len(results), len(test)):
            return None
    return results


def whole(costs: Any, widths: int, examples: int) -> bool:
    """Are there costs of so many examples at so many widths?"""
    lists = isinstance(costs, list) and all(isinstance(one, list) for one in costs)
    return lists and [len(one) for one in costs] == [examples] * widths


def check_same(entry: Entry, begun: Experiment, folder: Path) -> None:
    """Refuse to take the training in a folder for one that it is not."""
    wanted = entry.experiment.resolved()
    if wanted.warm_start is not None:
        wanted = wanted.with_settings(begun.settings).decided()  # came with the weights
    if changed := begun.changed(wanted, folder):
        raise RunError(f"{changed}; compare in another folder.")
