"""Grids whose workers are killed come to the table of an undisturbed one."""

import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest
from tiny import conllu, contents, sentences

from beamlearn.cli.jobs.compare import planned_from
from beamlearn.cli.main import run
from beamlearn.comparison.runner import compare
from beamlearn.tasks.registry import task_named

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_shape_checks")]

TAGGER = {"context": "streaming", "word_size": 4, "affix_size": 4, "history_size": 8}
LEARNING = {"epochs": 2, "batch_size": 4, "learning_rate": 0.05}


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Six trainings, each of a fraction of a second."""
    folder = tmp_path_factory.mktemp("data")
    return {
        "data": {
            "train": conllu(folder / "train.conllu", sentences(24)),
            "dev": conllu(folder / "dev.conllu", sentences(4, seed=1)),
        },
        "tagger": TAGGER,
        "learning": LEARNING,
        "compare": {"algorithms": "log_likelihood,continue", "widths": "2", "seeds": 3},
    }


def table(grid, out):
    """What the command prints into its folder; all that is done is read back."""
    options = [
        word
        for group in grid.values()
        for name, value in group.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    assert run(["compare", "tag", *options, "--out", str(out), "--processes", "1"]) == 0
    return (out / "table.md").read_text()


@pytest.fixture(scope="module")
def undisturbed(grid, module_without_shape_checks, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    return out, table(grid, out)


def entries_of(grid):
    return planned_from(task_named("tag"), grid, "").entries()


def check(grid, out, undisturbed):
    for entry in entries_of(grid):
        assert contents(out / entry.name) == contents(undisturbed[0] / entry.name)
    assert table(grid, out) == undisturbed[1]


def test_twenty_processes_never_train_an_entry_twice(grid, undisturbed, tmp_path):
    script = Path(__file__).parents[1] / "grid_workers.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), json.dumps(grid), "20", "30"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 left, "), done.stderr
    journal = [line.split() for line in (tmp_path / "journal").read_text().splitlines()]
    killed, owners, finished = set(), {}, []
    for what, *rest in journal:
        if what == "kill":
            killed.add(rest[0])
            continue
        name, process = rest
        if what == "begin":
            assert owners.get(name) in {None, *killed}, f"{name} was trained by two at once"
            owners[name] = process
        else:
            assert owners[name] == process
            finished.append(name)
    assert sorted(finished) == sorted(entry.name for entry in entries_of(grid))
    assert killed  # whether in the middle of a training is left to chance
    check(grid, tmp_path, undisturbed)


def kill(process):
    os.kill(process, signal.SIGKILL)


def trains(folder, seconds=60):
    """Wait until a training in a folder has logged rounds; return the process that does it."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        for log in folder.glob("*/rounds.jsonl"):
            for lease in log.parent.glob("lock.*"):
                return int(lease.name.split(".")[2])
        time.sleep(0.01)
    raise AssertionError("Nobody trains.")


def test_a_killed_process_of_this_machine_is_replaced(grid, undisturbed, tmp_path):
    found = compare(entries_of(grid), tmp_path, processes=2)
    names = {next(found)[0].name}
    kill(trains(tmp_path))
    names |= {entry.name for entry, _ in found}
    assert len(names) == 6
    assert not active_children()
    check(grid, tmp_path, undisturbed)


def test_a_killed_worker_of_dask_is_replaced(grid, undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        found = compare(entries_of(grid), tmp_path, executor=client.get_executor())
        names = {next(found)[0].name}
        kill(trains(tmp_path))
        names |= {entry.name for entry, _ in found}
    assert len(names) == 6
    check(grid, tmp_path, undisturbed)
