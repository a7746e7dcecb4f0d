"""Train a small grid on local processes and on two Dask workers, of which one is killed.

    python benchmarks/grid_engines.py DATA

DATA is a folder with ud-english-ewt/{train,dev}.conllu.gz. Both grids must come to the same weights
and to the same table.
"""

import hashlib
import json
import os
import signal
import sys
import time
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beamlearn.cli.jobs.compare import planned_from
from beamlearn.comparison.plan import Plan
from beamlearn.comparison.results import collect
from beamlearn.comparison.runner import compare
from beamlearn.comparison.table import markdown
from beamlearn.tasks.registry import task_named

RESULTS = Path(__file__).parent / "results" / "grid_engines.json"
WORKERS = 2


def grid(data: Path) -> Plan:
    folder = data / "ud-english-ewt"
    files = {name: str(folder / f"{name}.conllu.gz") for name in ("train", "dev")}
    values = {
        "data": {**files, "limit": 200},
        "tagger": {"context": "streaming"},
        "learning": {"epochs": 2},
        "compare": {"algorithms": "log_likelihood,continue", "widths": "2", "seeds": 2},
    }
    return planned_from(task_named("tag"), values, "")


def trainer(out: Path) -> int | None:
    """The process that trains an entry which is in the middle."""
    for log in out.glob("*/rounds.jsonl"):
        for lease in log.parent.glob("lock.*"):
            return int(lease.name.split(".")[2])
    return None


def run(plan: Plan, out: Path, executor: Executor | None, kill: bool) -> dict[str, Any]:
    start, killed = time.perf_counter(), 0
    for _ in compare(plan.entries(), out, WORKERS, executor=executor):
        if kill and not killed:
            while (killed := trainer(out) or 0) == 0:
                time.sleep(0.05)
            os.kill(killed, signal.SIGKILL)
    seconds = time.perf_counter() - start
    table = markdown(collect(plan, out, 0, {}, {}, ""))
    weights = hashlib.sha256()
    for entry in plan.entries():
        for name in ("model.safetensors", "rounds.jsonl"):
            weights.update((out / entry.name / name).read_bytes())
    return {
        "trainings": len(plan.entries()),
        "killed_workers": int(killed > 0),
        "seconds": round(seconds, 1),
        "weights_and_logs": weights.hexdigest(),
        "table": [line for line in table.splitlines() if line.startswith("|")],
    }


def main(data: str) -> None:
    from distributed import Client, LocalCluster

    plan, found = grid(Path(data)), {}
    with TemporaryDirectory() as folder:
        found["processes"] = run(plan, Path(folder) / "processes", None, kill=False)
        with (
            LocalCluster(
                n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            executor = client.get_executor(pure=False)
            found["dask, one worker killed"] = run(plan, Path(folder) / "dask", executor, kill=True)
    one, other = found.values()
    same = {name: one[name] == other[name] for name in ("weights_and_logs", "table")}
    RESULTS.write_text(json.dumps({**found, "same": same}, indent=2) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
