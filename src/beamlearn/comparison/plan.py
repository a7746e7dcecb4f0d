"""The trainings of a comparison, expanded and checked before any of them begins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..algorithms import ROWS
from ..check import unknown
from ..strategies import STRATEGIES
from ..tasks.experiment import files_of, fingerprints, read_data, read_experiment
from ..tasks.registry import task_named
from ..tasks.settings import Experiment
from ..training.choices import DEFAULT_ALGORITHM
from ..training.run import CONFIG, Run, RunError
from ..training.settings import Learning, SettingsError, parse
from .grid import Grid, items
from .runner import Entry, cache_in, check_same


@dataclass(frozen=True)
class Cell:
    """One way to train: a line of the table."""

    row: str
    """The name of an algorithm, or of a strategy and a loss."""
    experiment: Experiment
    """But for its seed."""

    @property
    def name(self) -> str:
        """The row and the width."""
        return f"{self.row}-{str(self.learning.width).replace(':', 'to')}"

    @property
    def learning(self) -> Learning:
        """How it learns."""
        return self.experiment.learning

    @property
    def choices(self) -> dict[str, str]:
        """What makes it another one than the others."""
        learning = self.experiment.resolved().learning
        rolled = type(learning.row.strategy)
        row_strategy = next(name for name, made in STRATEGIES.items() if made is rolled)
        loss, weights = learning.surrogate.__name__, learning.weights
        return {
            "strategy": learning.strategy or row_strategy,
            "loss": loss if weights is None else f"likelihood + {weights} x {loss}",
            "trained_width": str(learning.width),
        }

    def seeded(self, seed: int) -> Experiment:
        """The training with a seed."""
        learning = self.learning.model_copy(update={"seed": seed})
        return self.experiment.model_copy(update={"learning": learning})


@dataclass(frozen=True)
class Plan:
    """What is trained, and what it is tested on."""

    cells: tuple[Cell, ...]
    baseline: Cell
    seeds: int
    widths: tuple[int, ...]
    """Of the beam in testing."""
    test: str
    left_out: tuple[str, ...]
    """What the grid names and is not trained, in sentences."""

    def entries(self, device: str = "cpu", logs: tuple[str, ...] = ()) -> list[Entry]:
        """All trainings; every cell with the first seed, then with the next."""
        return [
            Entry(
                entry_name(cell, seed),
                cell.seeded(seed),
                self.widths,
                self.test,
                costs=True,
                device=device,
                logs=logs,
            )
            for seed in range(self.seeds)
            for cell in self.cells
        ]


def entry_name(cell: Cell, seed: int) -> str:
    """Of a training, and of its folder."""
    return f"{cell.name}-seed{seed}"


def plan(grid: Grid, shared: Experiment, beta: str | None = None) -> Plan:
    """Expand a grid over what all its trainings share; `beta` is for the strategy interpolate."""
    cells, left_out = expand(grid, shared, beta)
    return Plan(
        cells=tuple(cells),
        baseline=baseline_of(grid, cells),
        seeds=grid.seeds,
        widths=tested_widths(grid, cells),
        test=file_to_test(grid, shared),
        left_out=tuple(left_out),
    )


def expand(grid: Grid, shared: Experiment, beta: str | None = None) -> tuple[list[Cell], list[str]]:
    """The cells of a grid, and what is left out of it, in sentences.

    A row that cannot be trained at one width is left out there; at all of them, it is refused.
    """
    if beta is not None and "interpolate" not in items(grid.strategies):
        raise SettingsError(
            f"`beta` goes with the strategy interpolate, got {beta} without it; add it to "
            "`strategies`, or leave out `beta`."
        )
    found: list[Cell] = []
    left_out: list[str] = []
    for row, choices, widths in wanted(grid, beta):
        refused: list[SettingsError] = []
        for width in widths:
            try:
                cell = made(row, shared, {**choices, "width": width})
            except SettingsError as error:
                refused.append(error)
                continue
            twin = next((other for other in found if other.choices == cell.choices), None)
            if twin is None:
                found.append(cell)
            else:
                left_out.append(f"{cell.name} is left out: it is the same as {twin.name}.")
        if len(refused) == len(widths):
            raise refused[0]
        left_out += [f"Left out: {error}" for error in refused]
    return found, left_out


def wanted(grid: Grid, beta: str | None) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Every row of a grid: its name, its choices and its widths."""
    combined = grid.strategies is not None or grid.losses is not None
    default = None if combined else f"log_likelihood,{DEFAULT_ALGORITHM}"
    widths = items(grid.widths)
    for name in items(grid.algorithms or default):
        yield name, {"algorithm": name}, ["1"] if ROWS[name].width == 1 else widths
    if not combined:
        return
    strategies = items(grid.strategies or "continue")
    losses = items(grid.losses or ROWS["continue"].loss.__name__)
    for strategy, loss in product(strategies, losses):
        choices = {"algorithm": "continue", "strategy": strategy, "loss": loss}
        if strategy == "interpolate" and beta is not None:
            choices["beta"] = beta
        yield f"{strategy}-{loss}", choices, widths


def made(row: str, shared: Experiment, choices: Mapping[str, Any]) -> Cell:
    """The cell with these choices; an error that names it if it cannot be trained."""
    values = {**shared.learning.model_dump(exclude_unset=True), **choices}
    name = f"{row}-{choices['width']}"
    learning = parse(type(shared.learning), values, name)
    return Cell(row, shared.model_copy(update={"learning": learning}))


def baseline_of(grid: Grid, cells: Sequence[Cell]) -> Cell:
    """The cell that the others are tested against: by its name, or by its row where that is one."""
    if grid.baseline is None:
        return cells[0]
    name = grid.baseline
    found = [cell for cell in cells if name in (cell.name, cell.row)]
    if not found:
        raise SettingsError(unknown([cell.name for cell in cells], name, "baseline"))
    if len(found) > 1:
        several = ", ".join(cell.name for cell in found)
        raise SettingsError(
            f"`baseline` must be one line of the table, but {name} is trained at several widths; "
            f"name one of {several}."
        )
    return found[0]


def tested_widths(grid: Grid, cells: Sequence[Cell]) -> tuple[int, ...]:
    """The widths to test at."""
    if grid.test_widths is None:
        return tuple(sorted({1, *(cell.learning.decoding_width for cell in cells)}))
    return tuple(int(item) for item in items(grid.test_widths))


def file_to_test(grid: Grid, shared: Experiment) -> str:
    """The file to test on; refuse standard input, which can be read only once."""
    files = files_of(shared)
    for name, path in (("train", files.train), ("dev", files.dev), ("test", grid.test)):
        if path == "-":
            raise SettingsError(
                f"`{name}` must be a file that every training can read, got standard input; "
                "write it to a file first."
            )
    found = grid.test or files.dev
    if found is None:
        raise SettingsError("`test` or `dev` must name a file to test on, got neither.")
    return found


def check_data(plan: Plan, entries: Sequence[Entry], out: Path) -> int:
    """Read all files before anything runs; return how many examples there are to test on.

    Trainings that are in `out` already must be those of the plan, on the same data.
    """
    shared = plan.cells[0].experiment
    task = task_named(shared.task)
    examples = len(task.read(plan.test, shared))
    wanted = fingerprints(*read_data(task, shared, cache_in(out)))
    for entry in entries:
        folder = out / entry.name
        if not (folder / CONFIG).exists():
            continue
        run = Run.open(folder)
        check_same(entry, read_experiment(task, run), folder)
        if any(run.config.get(name, digest) != digest for name, digest in wanted.items()):
            raise RunError(
                f"The training and validation data must be what {folder} began with, but it was "
                "changed since; restore it, or compare in another folder."
            )
    return examples
