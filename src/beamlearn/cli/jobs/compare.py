"""What `beamlearn compare` does."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, final

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ...comparison.grid import COMPARED, Grid
from ...comparison.plan import Plan, check_data, entry_name, plan
from ...comparison.progress import Followed
from ...comparison.results import CSV, TABLE, Comparison, collect, write_results
from ...comparison.runner import CompareError, Entry
from ...comparison.runner import compare as run_entries
from ...comparison.table import markdown, shown, words
from ...data import atomic
from ...tasks.task import D, E, M, TaskSpec
from ...training.device import available
from ...training.run import CONFIG
from ...training.settings import SettingsError, parse
from ..console import say
from ..program import program
from ..settings import check_free

LIVE_PER_SECOND = 2


def compare(
    task: TaskSpec[E, D, M],
    values: dict[str, Any],
    source: str,
    out: Path,
    *,
    processes: int | None,
    device: str,
    quiet: bool,
) -> None:
    """Train all cells of a grid, test them, and write and print the table."""
    console = Console(stderr=True, quiet=quiet)
    planned = planned_from(task, values, source)
    entries = planned.entries(available(device))
    examples = check_data(planned, entries, out)
    make_folder(out)
    for sentence in planned.left_out:
        say(console, sentence)
    try:
        failed = run_all(task, planned, entries, out, processes, console)
    except KeyboardInterrupt:
        say(console, "Interrupted. The same command goes on.")
        raise typer.Exit(130) from None
    asked = shlex.join([program(), *sys.argv[1:]])
    found = collect(planned, out, examples, failed, values, asked)
    write_results(found, out, markdown(found))
    tell(found, out, console)
    if failed:
        raise typer.Exit(1)


def planned_from(task: TaskSpec[E, D, M], values: dict[str, Any], source: str) -> Plan:
    """Check all settings; return the trainings that they ask for."""
    learning = dict(values.get("learning", {}))
    for name in (name for name in COMPARED if name in learning):
        raise SettingsError(
            f"{source}: learning.{name} must be left to what is compared, got {learning[name]!r}; "
            f"leave it out, and give `compare.{COMPARED[name]}`."
        )
    beta = learning.pop("beta", None)
    chosen = dict(values.get("compare", {}))
    if isinstance(path := chosen.get("test"), str) and path != "-":
        chosen["test"] = str(Path(path).absolute())
    grid = parse(Grid, chosen, source)
    shared = {name: value for name, value in values.items() if name != "compare"}
    experiment = parse(task.experiment, {**shared, "learning": learning}, source)
    return plan(grid, experiment, None if beta is None else str(beta))


def make_folder(out: Path) -> None:
    """Make the folder of a comparison, unless it exists."""
    check_free(out, CONFIG, "a run")
    try:
        atomic.make_folder(out)
    except atomic.DiskFullError:
        raise
    except OSError as error:
        raise SettingsError(
            f"`out` must be a folder that can be written, but the system says: {error}; choose "
            "another one."
        ) from None


def run_all(
    task: TaskSpec[E, D, M],
    planned: Plan,
    entries: Sequence[Entry],
    out: Path,
    processes: int | None,
    console: Console,
) -> dict[str, str]:
    """Run what is left to run before a live table or plain lines; return what failed and why."""
    board = Board(planned, entries, out)
    live = (
        Live(
            console=console,
            get_renderable=board.table,
            refresh_per_second=LIVE_PER_SECOND,
            transient=True,
        )
        if console.is_terminal
        else nullcontext()
    )

    def ended(entry: Entry, outcome: str, line: str) -> None:
        board.done[entry.name] = outcome
        if not console.is_terminal:
            say(console, f"{len(board.done)}/{len(entries)}  {entry.name}  {line}")

    def failed(entry: Entry, error: BaseException) -> None:
        ended(entry, "failed", f"failed: {one_line(error)}")

    with live, closing(run_entries(entries, out, processes, on_failure=failed)) as found:
        try:
            for entry, results in found:
                score = task.describe_result(results[-1])
                ended(entry, score, f"beam {entry.widths[-1]}: {score}")
        except CompareError as error:
            return {name: one_line(why) for name, why in error.failed.items()}
    return {}


@final
class Board:
    """What every training does at the moment, one line for each cell and a column for each seed."""

    def __init__(self, planned: Plan, entries: Sequence[Entry], out: Path) -> None:
        self.planned, self.done = planned, dict[str, str]()
        self.logs = {
            entry.name: Followed(out / entry.name, entry.experiment.learning.epochs)
            for entry in entries
        }

    def table(self) -> Table:
        """It, now."""
        seeds = range(self.planned.seeds)
        shown = Table("trained", *(f"seed {seed}" for seed in seeds))
        for cell in self.planned.cells:
            names = (entry_name(cell, seed) for seed in seeds)
            shown.add_row(cell.name, *(self.done.get(n) or self.logs[n].state() for n in names))
        return shown


def one_line(error: BaseException) -> str:
    """What went wrong with a training, in a sentence."""
    message = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return " ".join(message.split())


def tell(found: Comparison, out: Path, console: Console) -> None:
    """Print the table and what failed, and say where everything is."""
    table = Table("trained", *(f"beam {width}" for width in found.widths))
    for cell, numbers in shown(found).items():
        texts = (
            Text(f"{one.text} {one.mark}".strip(), "bold" if one.best else "") for one in numbers
        )
        table.add_row(cell, *texts)
    printed = Console()
    printed = printed if printed.is_terminal else Console(width=200)
    printed.print(table)
    printed.print(words(found), highlight=False, markup=False, soft_wrap=True)
    errors = Console(stderr=True)
    for name, why in found.failed.items():
        errors.print(
            f"{name} failed: {why}", style="red", markup=False, highlight=False, soft_wrap=True
        )
    if found.failed:
        say(errors, "What is done stays done: fix this, and the same command goes on.")
    say(console, f"The table is in {out / TABLE}; all numbers are in {out / CSV}.")
