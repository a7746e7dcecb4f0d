"""What a comparison found, and the files that hold it."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from ..data import atomic
from ..evaluation.metric import Metric, main_metric
from ..evaluation.significance import holm, sign_flip_test
from ..tasks.registry import task_named
from ..training.run import RunError
from ..training.run.folder import METRICS
from ..training.run.log_line import is_number
from ..training.run.records import encode, read_json, read_lines, to_json
from .plan import Plan, entry_name

ABOUT, ROWS, CSV, TABLE = "compare.json", "results.jsonl", "results.csv", "table.md"
Costs = dict[tuple[str, int], Float[Tensor, " examples"]]
"""Of each test example, the mean over the seeds, by cell and test width."""


@dataclass(frozen=True)
class PairedTest:
    """A cell against the baseline, at the same width of the beam in testing."""

    cell: str
    width: int
    difference: float
    """How much more its outputs cost than those of the baseline, per example."""
    p: float
    adjusted: float
    """The same after Holm's correction over the cells at this width."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison found."""

    task: str
    test: str
    """The file that all were tested on."""
    examples: int
    """How many it has."""
    metric: Metric
    """What the table shows."""
    cells: list[str]
    widths: list[int]
    """Of the beam in testing."""
    seeds: int
    baseline: str
    failed: dict[str, str]
    """Trainings that failed, with the reasons."""
    tests: list[PairedTest]
    settings: dict[str, Any]
    """Those that all trainings share, and the grid."""
    command: str
    rows: list[dict[str, Any]]
    """One for each cell, seed and test width, with all that was measured."""

    def values(self, cell: str, width: int) -> list[float]:
        """The metric of each seed."""
        return [
            row[self.metric.name]
            for row in self.rows
            if (row["cell"], row["width"]) == (cell, width)
        ]

    def test_of(self, cell: str, width: int) -> PairedTest | None:
        """The test of a cell against the baseline; None for that itself."""
        same = (test for test in self.tests if (test.cell, test.width) == (cell, width))
        return next(same, None)


def collect(
    plan: Plan,
    out: Path,
    examples: int,
    failed: Mapping[str, str],
    settings: Mapping[str, Any],
    command: str,
) -> Comparison:
    """Read the results of a plan from the folders of its trainings, except those that failed."""
    rows: list[dict[str, Any]] = []
    costs: dict[tuple[str, int], list[Tensor]] = defaultdict(list)
    for cell, seed in product(plan.cells, range(plan.seeds)):
        if (name := entry_name(cell, seed)) in failed:
            continue
        metrics = read_json(out / name / METRICS)
        for result, each in zip(metrics["results"], metrics["costs"], strict=True):
            rows.append({"cell": cell.name, **cell.choices, "seed": seed, **result})
            costs[cell.name, result["width"]].append(torch.tensor(each, dtype=torch.float64))
    means = {place: torch.stack(several).mean(dim=0) for place, several in costs.items()}
    task = plan.baseline.experiment.task
    return Comparison(
        task=task,
        test=plan.test,
        examples=examples,
        metric=main_metric(task_named(task).metrics, rows),
        cells=[cell.name for cell in plan.cells],
        widths=list(plan.widths),
        seeds=plan.seeds,
        baseline=plan.baseline.name,
        failed=dict(failed),
        tests=paired_tests(plan.baseline.name, means),
        settings=dict(settings),
        command=command,
        rows=rows,
    )


def paired_tests(baseline: str, costs: Costs) -> list[PairedTest]:
    """Test every cell against the baseline, width by width."""
    pairs = [
        (cell, width) for cell, width in costs if cell != baseline and (baseline, width) in costs
    ]
    if not pairs:
        return []
    differences = torch.stack([costs[pair] - costs[baseline, pair[1]] for pair in pairs])
    p = dict(zip(pairs, sign_flip_test(differences).tolist(), strict=True))
    found = dict(zip(pairs, differences.mean(dim=-1).tolist(), strict=True))
    adjusted: dict[tuple[str, int], float] = {}
    for width in {width for _, width in pairs}:
        family = [pair for pair in pairs if pair[1] == width]
        adjusted |= zip(family, holm([p[pair] for pair in family]), strict=True)
    return [PairedTest(*pair, found[pair], p[pair], adjusted[pair]) for pair in pairs]


def write_results(comparison: Comparison, out: Path, table: str) -> None:
    """Write the files of a comparison; each is either the old one or the new one."""
    about = asdict(comparison)
    rows = about.pop("rows")
    atomic.write_bytes(out / ROWS, b"".join(encode(row) for row in rows))
    atomic.write_bytes(out / CSV, as_csv(rows).encode())
    atomic.write_bytes(out / TABLE, table.encode())
    atomic.write_bytes(out / ABOUT, to_json(about, out / ABOUT, indent=2))


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV; a number that one does not have is left empty."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_comparison(path: str | Path) -> Comparison:
    """Read what `beamlearn compare` left in a folder.

    Its `rows` are dictionaries, as `pandas.DataFrame` takes them.
    """
    path = Path(path)
    if not (path / ABOUT).is_file():
        raise RunError(
            f"{path} must hold a finished comparison, but there is no {ABOUT} in it; give the "
            "folder that `beamlearn compare` wrote."
        )
    about = read_json(path / ABOUT)
    rows = [row for _, row in read_lines(path / ROWS)]
    try:
        found = TypeAdapter(Comparison).validate_python({**about, "rows": rows})
    except ValidationError as error:
        raise changed(path / ABOUT) from error
    number = found.metric.name
    if not all({"cell", "width"} <= row.keys() and is_number(row.get(number)) for row in rows):
        raise changed(path / ROWS)
    return found


def changed(path: Path) -> RunError:
    """The error for a file that is not as it was written."""
    return RunError(
        f"{path} is not what `beamlearn compare` wrote; run the same comparison again, or restore "
        "it from a copy."
    )
