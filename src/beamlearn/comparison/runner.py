"""Run many trainings, on any executor; what is done stays done."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

import torch

from ..data.kept import discard
from ..engines.local import local_processes, undisturbed
from ..engines.lost import is_lost
from ..tasks.experiment import Prepared, begin, read_experiment, resume
from ..tasks.registry import task_named
from ..tasks.settings import Experiment
from ..tasks.task import D, E, M
from ..training.logs import logging
from ..training.run import CONFIG, OccupiedError, Run, RunError
from ..training.run.folder import METRICS
from ..training.trainer import fit
from .trial import Trial

Results = list[dict[str, Any]]
"""One report for each test width."""
CACHE = "data.cache"
ALONE = Lock()
"""Held by the entry that a process works at: random numbers belong to the process."""


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
    logs: tuple[str, ...] = ()
    """Where the rounds are logged beside its folder."""


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
    executor: Executor | None = None,
    on_failure: Callable[[Entry, BaseException], None] | None = None,
) -> Generator[tuple[Entry, Results], None, None]:
    """Train and test every entry in its own folder under `out`; yield each when it is done.

    What the trainings share is removed at the end, unless one that another caller began in `out`
    is not done.

    Interrupted at any moment and called again, it goes on where it was: finished entries are
    read back, begun ones resumed. Every process has one thread. The processes are on this machine,
    unless there is an `executor`, whose workers must see the same files under the same names.

    Several callers may share `out`: no entry is trained by two at once, and what others have done
    is read. Workers that are lost and folders that are busy are tried again (see `trial.py` for the
    limits). When an entry fails, `on_failure` hears of it at once, and the others are still
    finished before a `CompareError` says which one failed and why.
    """
    yield from run_entries(entries, out, processes, executor=executor, on_failure=on_failure)
    discard_shared(Path(out))


def run_entries(
    entries: Sequence[Entry],
    out: str | Path,
    processes: int | None = None,
    *,
    executor: Executor | None = None,
    on_failure: Callable[[Entry, BaseException], None] | None = None,
) -> Generator[tuple[Entry, Results], None, None]:
    """The same for a part of the entries: what trainings share stays, for the other parts."""
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Entries need names of their own, but two are called {twice!r}.")
    failed: dict[str, BaseException] = {}
    out = Path(out) if executor is None else Path(out).absolute()
    with local_processes(processes) if executor is None else nullcontext(executor) as workers:
        for entry, outcome in outcomes(entries, out, workers):
            if isinstance(outcome, BaseException):
                failed[entry.name] = outcome
                if on_failure is not None:
                    on_failure(entry, outcome)
            else:
                yield entry, outcome
    if failed:
        ordered = {name: failed[name] for name in names if name in failed}
        name, error = next(iter(ordered.items()))
        raise CompareError(
            f"{len(failed)} of {len(entries)} entries failed ({', '.join(ordered)}); {name}: "
            f"{error} What is done stays done: fix this and compare again.",
            ordered,
        ) from error


def outcomes(
    entries: Sequence[Entry], out: Path, workers: Executor
) -> Iterator[tuple[Entry, Results | BaseException]]:
    """Each entry with its results, or with the error that no further trial can mend."""
    trials, running = {entry.name: Trial() for entry in entries}, dict[Future[Results], Entry]()
    waiting = list(entries)
    try:
        while running or waiting:
            for entry in [one for one in waiting if trials[one.name].due <= monotonic()]:
                waiting.remove(entry)
                running[submitted(workers, entry, out / entry.name)] = entry
            due = min((trials[entry.name].due for entry in waiting), default=None)
            for future in ended(running, due):
                entry, outcome = running.pop(future), outcome_of(future)
                if isinstance(outcome, BaseException):
                    after = trials[entry.name].again(outcome, monotonic())
                    if isinstance(after, Trial):
                        trials[entry.name] = after
                        waiting.append(entry)
                        continue
                    outcome = after
                yield entry, outcome
    finally:
        for future in running:  # if the caller leaves early
            future.cancel()


def submitted(workers: Executor, entry: Entry, folder: Path) -> Future[Results]:
    """Hand an entry to a worker; if all of them are gone, the future says so."""
    try:
        with undisturbed():
            return workers.submit(run_entry, entry, folder)
    except Exception as error:
        if not is_lost(error):
            raise
        future: Future[Results] = Future()
        future.set_exception(error)
        return future


def ended(running: Mapping[Future[Results], Entry], due: float | None) -> list[Future[Results]]:
    """Those that have ended, in order, when there is one; none when the next trial is due."""
    seconds = None if due is None else max(0.0, due - monotonic())
    if not running:
        sleep(seconds or 0.0)
        return []
    done = wait(running, seconds, FIRST_COMPLETED).done
    return [future for future in running if future in done]


def outcome_of(future: Future[Results]) -> Results | BaseException:
    """What a worker found, or why it did not."""
    if future.cancelled():
        return CancelledError("it was canceled")
    return future.exception() or future.result()


def run_entry(entry: Entry, folder: Path) -> Results:
    """Train (or go on training) and test one entry; return its results, width by width."""
    with ALONE:
        torch.set_num_threads(1)
        task = task_named(entry.experiment.task)
        if (folder / CONFIG).exists():
            run = Run.open(folder)
            check_same(entry, read_experiment(task, run), folder)
            if (results := known_results(entry, run)) is not None:
                return results
        return trained(entry, prepared_in(folder, entry))


def prepared_in(folder: Path, entry: Entry) -> Prepared[Any, Any, Any]:
    """The training of an entry, begun or as it was left."""
    task = task_named(entry.experiment.task)
    if not (folder / CONFIG).exists():
        with suppress(OccupiedError):  # another process was faster
            return begin(task, entry.experiment, folder, entry.device, cache_in(folder.parent))
    return resume(task, folder, entry.device, cache=cache_in(folder.parent))


def cache_in(out: Path) -> Path:
    """The folder for a large training file, which all entries share."""
    return out / CACHE


def discard_shared(out: Path) -> None:
    """Remove what trainings share, unless one that was begun, by whomever, is not done."""
    if all((config.parent / METRICS).exists() for config in out.glob(f"*/{CONFIG}")):
        discard(cache_in(out))


def trained(entry: Entry, prepared: Prepared[E, D, M]) -> Results:
    """Train and test, and keep what is found in the run folder."""
    run, task, model = prepared.checkpointer.run, prepared.task, prepared.model
    with prepared.checkpointer.held():
        with logging(entry.logs, prepared.training, run) as loggers:
            fit(prepared.training, prepared.checkpointer, *loggers)
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
