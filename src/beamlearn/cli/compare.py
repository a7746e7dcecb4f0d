"""`beamlearn compare`."""

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, Any, final

import typer
from pydantic import create_model
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..comparison import Comparison, Grid, Plan, plan
from ..comparison.grid import COMPARED
from ..comparison.plan import check_data, entry_name
from ..comparison.progress import Followed
from ..comparison.results import CSV, TABLE, collect, write_results
from ..comparison.runner import CompareError, Entry, compare
from ..comparison.table import markdown, shown, words
from ..data import atomic
from ..tasks.task import D, E, M
from ..training.device import available
from ..training.run import CONFIG
from ..training.settings import Learning, Settings, SettingsError, groups_in, parse
from .device import Device
from .options import Given, with_settings
from .program import program
from .task import TaskCommands
from .tasks import COMMANDS
from .train import check_free, say, settings

LIVE_PER_SECOND = 2
HELP = """Train in many ways, test each at several widths of the beam, and say which is best.

    One line of the table for each algorithm, or strategy and loss, at each width; a file of
    settings may have a table `compare`, too. Interrupted at any time, the same command goes on.

    [bold]Examples[/bold]

    beamlearn compare {task} --train train.{files} --dev dev.{files} --out cmp

    beamlearn compare {task} --train train.{files} --dev dev.{files} --test test.{files}
    --algorithms log_likelihood,dagger,continue --widths 1,4,8 --test-widths 1,2,4,8
    --baseline log_likelihood --out cmp

    beamlearn compare {task} --train train.{files} --dev dev.{files} --strategies continue,reset
    --losses upper_bound,log_loss_beam --widths 8 --seeds 5 --out cmp
    """


FILES = {"tag": "conllu", "parse": "conllu", "transduce": "tsv"}
"""How the files of the examples end."""


def compare_group() -> typer.Typer:
    """The group of commands, one for each task."""
    group = typer.Typer(help="Compare ways to train, side by side.", no_args_is_help=True)
    for name, task in COMMANDS.items():
        group.command(name)(command(task))
    return group


def shared_learning() -> type[Settings]:
    """The settings of learning that all trainings of a comparison have in common."""
    kept: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in Learning.model_fields.items()
        if name not in COMPARED
    }
    return create_model("SharedLearning", __base__=Settings, **kept)


def command(task: TaskCommands[E, D, M]) -> Callable[..., None]:
    """The command that compares models of one task."""
    groups: dict[str, type[Settings]] = {
        "compare": Grid,
        **groups_in(task.kind.experiment),
        "learning": shared_learning(),
    }

    def compare_task(
        out: Annotated[Path, typer.Option(help="The folder to write.")],
        given: Given,
        config: Annotated[
            Path | None,
            typer.Option(help=f"A TOML file with settings in its tables {', '.join(groups)}."),
        ] = None,
        warm_start: Annotated[
            str | None,
            typer.Option(help="A run folder whose weights are the first ones of all trainings."),
        ] = None,
        processes: Annotated[
            int | None,
            typer.Option(
                min=1, help="How many train at once, with one thread each.", show_default="cores"
            ),
        ] = None,
        device: Device = "cpu",
        quiet: Annotated[bool, typer.Option(help="Show the table and errors only.")] = False,
    ) -> None:
        console = Console(stderr=True, quiet=quiet)
        values = settings(config, given, warm_start)
        planned = planned_from(task, values, "" if config is None else str(config))
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

    name = task.kind.name
    compare_task.__doc__ = HELP.format(task=name, files=FILES[name])
    return with_settings(**groups)(compare_task)


def planned_from(task: TaskCommands[E, D, M], values: dict[str, Any], source: str) -> Plan:
    """Check all settings; return the trainings that they ask for."""
    learning = dict(values.get("learning", {}))
    for name in (name for name in COMPARED if name in learning):
        raise SettingsError(
            f"`learning.{name}` must be left to what is compared, but {learning[name]!r} came; "
            f"leave it out, and give --{COMPARED[name]}."
        )
    beta = learning.pop("beta", None)
    chosen = dict(values.get("compare", {}))
    if isinstance(path := chosen.get("test"), str) and path != "-":
        chosen["test"] = str(Path(path).absolute())
    grid = parse(Grid, chosen, source)
    shared = {name: value for name, value in values.items() if name != "compare"}
    experiment = parse(task.kind.experiment, {**shared, "learning": learning}, source)
    return plan(grid, experiment, None if beta is None else str(beta))


def make_folder(out: Path) -> None:
    """Make the folder of a comparison, unless it exists."""
    check_free(out, CONFIG, "a run")
    try:
        atomic.make_folder(out)
    except OSError as error:
        raise SettingsError(
            f"`out` must be a folder that can be written, but the system says: {error}; choose "
            "another --out."
        ) from None


def run_all(
    task: TaskCommands[E, D, M],
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

    with live, closing(compare(entries, out, processes, on_failure=failed)) as found:
        try:
            for entry, results in found:
                score = task.score(results[-1])
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
    told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return " ".join(told.split())


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
        say(errors, "What is done stays done: mend this, and the same command goes on.")
    say(console, f"The table is in {out / TABLE}; all numbers are in {out / CSV}.")
