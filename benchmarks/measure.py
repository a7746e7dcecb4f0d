"""Time variants of one computation side by side, and write down what came out.

Variants take turns (A, B, A, B, ...), so that whatever else the machine does meets all of
them alike, and every turn yields one ratio. Read the ratios; seconds depend on the machine.
"""

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch

RESULTS = Path(__file__).parent / "results"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Timing:
    """How long one variant takes."""

    seconds: float
    """The median turn."""
    ratio: float
    """The median over the turns of its time divided by that of the first variant."""


def interleave(
    variants: Mapping[str, Callable[[], object]],
    *,
    seconds: float = 2.0,
    least: int = 7,
    most: int = 1000,
) -> dict[str, Timing]:
    """Run the variants in turn on one thread, for about `seconds`, after a turn to warm up."""
    torch.set_num_threads(1)
    warm = sum(min(_time(run) for _ in range(2)) for run in variants.values())
    turns = max(least, min(most, int(seconds / warm)))
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(turns):
        for name, run in variants.items():
            times[name].append(_time(run))
    base = next(iter(times.values()))
    return {
        name: Timing(median(own), median(a / b for a, b in zip(own, base, strict=True)))
        for name, own in times.items()
    }


def _time(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def report(name: str, rows: Sequence[Row], **extra: Any) -> None:
    """Print the rows as a table and write them to `results/<name>.json`."""
    print_table(rows)
    content = {"machine": machine(), **extra, "rows": list(rows)}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    unfinished = path.with_suffix(".json.part")
    unfinished.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(unfinished, path)


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "cpu": _cpu(),
        "vector_instructions": torch.backends.cpu.get_cpu_capability(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def print_table(rows: Sequence[Row]) -> None:
    """Print rows with the same keys below each other."""
    head = list(rows[0])
    cells = [head, *([_shown(row[key]) for key in head] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
