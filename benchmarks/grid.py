"""Run the entries of a table, print it and keep its numbers."""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from measure import RESULTS
from rich.console import Console
from rich.table import Table

from beamlearn.comparison.runner import Entry, compare

Results = list[dict[str, Any]]
"""One per test width."""
Columns = Mapping[str, tuple[int, str]]
"""What to show: the place of a test width, and the number there."""


def run_grid(
    name: str, about: str, entries: Callable[[Path, Path], Iterable[Entry]], columns: Columns
) -> None:
    """Read the command line, run what is left to run, and report.

    `entries` gets the folder of the data and that of the runs.
    """
    parser = argparse.ArgumentParser(description=about.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs") / name)
    parser.add_argument("--only", default="", help="entries whose name begins so")
    arguments = parser.parse_args()
    console = Console()
    listed = list(entries(arguments.data.resolve(), arguments.out.resolve()))
    chosen = [entry for entry in listed if entry.name.startswith(arguments.only)]
    found: dict[str, Results] = {}
    for done, results in compare(chosen, arguments.out):
        found[done.name] = results
        shown = "  ".join(f"{label} {results[i][key]:.4f}" for label, (i, key) in columns.items())
        console.print(f"{len(found)}/{len(chosen)} {done.name}  {shown}", soft_wrap=True)
    path = RESULTS / f"{name}.json"
    if path.exists():
        found = {**json.loads(path.read_text(encoding="utf-8"))["entries"], **found}
    ordered = {entry.name: found[entry.name] for entry in listed if entry.name in found}
    path.write_text(json.dumps({"entries": ordered}, indent=1) + "\n", encoding="utf-8")
    console.print(table(ordered, columns))


def table(found: Mapping[str, Results], columns: Columns) -> Table:
    """One row per entry; the mean and spread over seeds where there are several."""
    rows: dict[str, list[Results]] = defaultdict(list)
    for name, results in found.items():
        rows[name.rsplit("-seed", 1)[0]].append(results)
    shown = Table("trained", *columns)
    for name, seeds in rows.items():
        cells = [
            cell(key, [results[place][key] for results in seeds]) for place, key in columns.values()
        ]
        shown.add_row(name, *cells)
    return shown


def cell(key: str, values: Sequence[float]) -> str:
    """A mean and its spread, in percent unless it counts something."""
    scale = 1 if key in ("increases_per_example", "optimum") else 100
    spread = f" ± {scale * pstdev(values):.2f}" if len(values) > 1 else ""
    return f"{scale * mean(values):.2f}{spread}"
