"""Show a training: a live bar on a terminal or in a notebook, plain lines elsewhere."""

from collections.abc import Callable
from importlib.util import find_spec
from time import monotonic
from typing import final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..evaluation.evaluate import Evaluation
from ..learning.learn import Round
from ..plural import counted
from .shown import Shown
from .trainer import Training, Validation

PLAIN_SECONDS = 20.0
"""How often a plain line is printed within an epoch."""
NOTEBOOK_SECONDS = 0.25
"""How often a bar in a notebook is drawn again."""


def bars(console: Console) -> Progress:
    """Progress bars with room for words; nothing where none can be drawn.

    In a notebook they are drawn on request, not by another thread: what was printed meanwhile
    would end up in the widget of the bar, and disappear with it.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(compact=True),
    )
    return Progress(
        *columns,
        console=console,
        transient=True,
        auto_refresh=not console.is_jupyter,
        disable=not has_bars(console),
    )


def has_bars(console: Console) -> bool:
    """Can bars be drawn? On a terminal, and in a notebook if ipywidgets is installed."""
    return console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)


@final
class Display(Shown):
    """Watch a training on a console: loss, cost increases, speed, time left, and each epoch.

    `unit` is what a step decides on (for a tagger, words); `judge` puts a validation in words.
    """

    def __init__(self, console: Console, unit: str, judge: Callable[[Evaluation], str]) -> None:
        self.console, self.unit, self.judge = console, unit, judge
        self.progress = bars(console)
        self.bar = self.progress.add_task("training", total=None, state="")
        self.recent = Recent()
        self.printed = self.drawn = monotonic()

    def __call__(self, training: Training, event: Round | Validation) -> None:
        if isinstance(event, Round):
            self._round(training, event)
        else:
            self._validation(training, event)

    def _round(self, training: Training, round: Round) -> None:
        self.recent.add(round)
        epoch = f"epoch {training.validated + 1}/{training.settings.epochs}"
        state = f"width {round.width}  {self.recent.describe(self.unit)}"
        self.progress.update(
            self.bar, completed=round.number, total=training.rounds, description=epoch, state=state
        )
        if self.console.is_jupyter and monotonic() - self.drawn >= NOTEBOOK_SECONDS:
            self.drawn = monotonic()
            self.progress.refresh()
        if self.progress.disable and monotonic() - self.printed >= PLAIN_SECONDS:
            self.printed = monotonic()
            share = round.number / training.rounds
            self._print(f"{epoch}  {share:.0%}  {state}")

    def _validation(self, training: Training, found: Validation) -> None:
        self.printed = monotonic()
        best = "  (best so far)" if found.best else ""
        done = f"epoch {found.epoch}/{training.settings.epochs}  {self.recent.describe(self.unit)}"
        if found.epoch == 0:
            done = "warm start"
        scores = "".join(
            f", {metric.label} {metric.shown(value)}{'%' * metric.rate}"
            for metric, value in found.scores.items()
        )
        self._print(f"{done}  validation {self.judge(found.evaluation)}{scores}{best}")
        self.recent = Recent()
        if found.stop and found.epoch < training.settings.epochs:
            epochs = counted(training.settings.patience or 0, "epoch")
            self._print(f"stopped: no better validation for {epochs}")

    def _print(self, line: str) -> None:
        """Print a line as it is: whole, however narrow the console, and without markup."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


@final
class Recent:
    """Averages over the rounds of an epoch so far."""

    def __init__(self) -> None:
        self.began = self.last = monotonic()
        self.loss, self.increases, self.steps = 0.0, 0, 0
        self.beam_loss, self.beam_steps = 0.0, 0

    def add(self, round: Round) -> None:
        """Count a round."""
        self.last = monotonic()  # validation, which comes after it, is not training
        steps = int(round.steps.sum())
        right = round.losses if round.likelihoods is None else round.likelihoods
        self.loss += float(right.sum())
        self.steps += steps
        self.increases += int(round.increases.sum())
        if round.beam_weight:
            self.beam_loss += float(round.losses.sum())
            self.beam_steps += steps

    def describe(self, unit: str) -> str:
        """Losses and cost increases per step, and steps per second."""
        steps = max(1, self.steps)
        speed = self.steps / max(1e-9, self.last - self.began)
        beam = f"beam loss {self.beam_loss / self.beam_steps:.3f}  " if self.beam_steps else ""
        return (
            f"loss {self.loss / steps:.3f}  {beam}cost increases {self.increases / steps:.1%}  "
            f"{speed:,.0f} {unit}/s"
        )
