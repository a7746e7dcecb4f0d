"""What `beamlearn compare` does."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
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
from ...comparison.runner import CompareError, Entry, discard_shared, run_entries
from ...comparison.table import markdown, shown, words
from ...data import atomic
from ...engines import open_engine
from ...engines.part import Part
from ...plural import counted
from ...tasks.task import D, E, M, TaskSpec
from ...training.device import available
from ...training.logs import check_logs
from ...training.run import CONFIG
from ...training.settings import SettingsError, parse
from ..console import say
from ..program import program
from ..settings import check_free

LIVE_PER_SECOND = 2
JOBS = "slurm"
"""The folder of what SLURM's jobs are to do and what they print."""


@dataclass(frozen=True)
class Where:
    """Where a comparison is done, and how much of it."""

    engine: str
    processes: int | None
    part: str | None

    def entries(self, planned: Sequence[Entry]) -> list[Entry]:
        """The trainings of this part."""
        return list(planned) if self.part is None else Part.read(self.part).of(planned)

    def check(self) -> None:
        """Refuse processes of this machine where others do the work."""
        if self.processes is not None and self.engine != "processes":
            raise SettingsError(
                f"`processes` goes with `engine` = processes, got {self.processes} with "
                f"{self.engine}; leave one of them out."
            )

    def executor(self, out: Path) -> AbstractContextManager[Executor | None]:
        """What does the work; None: processes of this machine."""
        if self.engine == "processes":
            return nullcontext()
        return open_engine(self.engine, jobs=out.absolute() / JOBS)


def compare(
    task: TaskSpec[E, D, M],
    values: dict[str, Any],
    source: str,
    out: Path,
    *,
    where: Where,
    logs: Sequence[str],
    device: str,
    quiet: bool,
) -> None:
    """Train all cells of a grid, test them, and write and print the table."""
    console = Console(stderr=True, quiet=quiet)
    where.check()
    planned = planned_from(task, values, source)
    entries = where.entries(planned.entries(available(device), check_logs(logs)))
    examples = check_data(planned, entries, out)
    make_folder(out)
    for sentence in planned.left_out:
        say(console, sentence)
    try:
        failed = run_all(task, planned, entries, out, where, console)
    except KeyboardInterrupt:
        say(console, "Interrupted. The same command goes on.")
        raise typer.Exit(130) from None
    if where.part is not None:
        tell_part(where.part, entries, failed, out, console)
        raise typer.Exit(1 if failed else 0)
    asked = shlex.join([program(), *sys.argv[1:]])
    found = collect(planned, out, examples, failed, values, asked)
    write_results(found, out, markdown(found))
    if not failed:
        discard_shared(out)
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
    where: Where,
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

    with where.executor(out) as executor, live:
        training = run_entries(entries, out, where.processes, executor=executor, on_failure=failed)
        with closing(training) as found:
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
            shown.add_row(cell.name, *map(self.state, names))
        return shown

    def state(self, name: str) -> str:
        """Of a training, in words; nothing if it belongs to another part."""
        if name not in self.logs:
            return ""
        return self.done.get(name) or self.logs[name].state()


def one_line(error: BaseException) -> str:
    """What went wrong with a training, in a sentence."""
    message = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return " ".join(message.split())


def tell_part(
    part: str, entries: Sequence[Entry], failed: Mapping[str, str], out: Path, console: Console
) -> None:
    """Say what a part has done, and how to come to a table."""
    tell_failed(failed)
    say(
        console,
        f"Part {part}: {len(entries) - len(failed)} of {counted(len(entries), 'training')} done in "
        f"{out}. When all parts are done, the same command without --part makes the table.",
    )


def tell_failed(failed: Mapping[str, str]) -> None:
    """Print what failed, and how to go on."""
    errors = Console(stderr=True)
    for name, why in failed.items():
        errors.print(
            f"{name} failed: {why}", style="red", markup=False, highlight=False, soft_wrap=True
        )
    if failed:
        say(errors, "What is done stays done: fix this, and the same command goes on.")


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
    tell_failed(found.failed)
    say(console, f"The table is in {out / TABLE}; all numbers are in {out / CSV}.")
