import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from io import StringIO
from types import ModuleType, SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from rich.console import Console
from tiny import training

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.learning.learn import Round
from beamlearn.training import progress as module
from beamlearn.training.progress import Display, Recent
from beamlearn.training.trainer import Validation, fit

pytestmark = pytest.mark.usefixtures("no_shape_checks")
JUDGMENT = "accuracy 12.34%, and a long remark [in brackets] that goes beyond any 80 columns"


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when the test says so."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(module, "monotonic", lambda: now.seconds)
    return now


def watched(console, **learning):
    """Show a whole training; return the lines."""
    steps = training(epochs=2, **learning)
    with Display(console, "words", lambda _: JUDGMENT) as display:
        fit(steps, display)
    return steps, console.file.getvalue().splitlines()


def round_of(number, losses=(2.0, 4.0), increases=(1, 0), steps=(3, 1)):
    some = torch.tensor
    return Round(
        number=number,
        losses=some(losses),
        costs=some(losses),
        optima=some([0.0, 0.0]),
        increases=some(increases),
        on_policy=some([True, False]),
        steps=some(steps),
        width=3,
        beta=None,
        gradient_norm=1.0,
    )


def validation(epoch, best=True, stop=False):
    found = Evaluation(torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([1]))
    return Validation(epoch, 3 * epoch, found, 1.0, best, stop)


# --- plain lines --------------------------------------------------------------------------------


def test_elsewhere_than_on_a_terminal_there_is_one_plain_line_per_epoch():
    _, lines = watched(Console(file=StringIO()))
    assert len(lines) == 2  # nothing wrapped: each is longer than 80 columns
    for number, line in enumerate(lines, 1):
        assert line.startswith(f"epoch {number}/2  loss ")
        assert f"validation {JUDGMENT}" in line
        assert len(line) > 80
        assert "\x1b" not in line
    assert lines[0].endswith("  (best so far)")


def test_what_an_epoch_line_says(clock):
    console = Console(file=StringIO())
    steps = training(epochs=2)
    display = Display(console, "words", lambda found: f"cost {found.cost}")
    clock.seconds += 2
    display(steps, round_of(1))
    clock.seconds += 2
    display(steps, round_of(2, losses=(6.0, 0.0), increases=(2, 1)))
    clock.seconds += 50  # validation is not training
    display(steps, validation(1))
    display(steps, validation(2, best=False))
    lines = console.file.getvalue().splitlines()
    assert lines == [
        "epoch 1/2  loss 1.500  cost increases 50.0%  2 words/s  validation cost 1.0  "
        "(best so far)",
        "epoch 2/2  loss 0.000  cost increases 0.0%  0 words/s  validation cost 1.0",
    ]


def test_both_losses_of_a_mixture_are_said(clock):
    console = Console(file=StringIO())
    display = Display(console, "words", lambda _: JUDGMENT)
    right = torch.tensor([1.0, 1.0])
    display(training(), replace(round_of(1), likelihoods=right, beam_weight=0.1))
    display(training(), replace(round_of(2), likelihoods=right, beam_weight=0.0))
    display(training(), validation(1))
    assert console.file.getvalue().startswith("epoch 1/3  loss 0.500  beam loss 1.500  cost ")


def test_a_warm_start_is_said(clock):
    console = Console(file=StringIO())
    display = Display(console, "words", lambda found: f"cost {found.cost}")
    display(training(), validation(0))
    assert console.file.getvalue() == "warm start  validation cost 1.0  (best so far)\n"


def test_within_an_epoch_there_is_a_line_now_and_then(clock):
    console = Console(file=StringIO())
    steps = training(epochs=2)
    display = Display(console, "words", lambda _: JUDGMENT)
    for number in range(1, 5):
        clock.seconds += 12
        display(steps, round_of(number))
    lines = console.file.getvalue().splitlines()
    assert lines == [
        "epoch 1/2  33%  width 3  loss 1.500  cost increases 25.0%  0 words/s",
        "epoch 1/2  67%  width 3  loss 1.500  cost increases 25.0%  0 words/s",
    ]
    display(steps, validation(1))
    clock.seconds += 19
    display(steps, round_of(5))
    assert len(console.file.getvalue().splitlines()) == 3  # the validation was a line, too


@pytest.mark.parametrize(("patience", "words"), [(1, "1 epoch"), (2, "2 epochs")])
def test_early_stopping_is_said(clock, patience, words):
    console = Console(file=StringIO(), width=20)
    steps = training(epochs=5, patience=patience)
    display = Display(console, "words", lambda _: "cost 1")
    display(steps, validation(4, best=False, stop=True))
    assert console.file.getvalue().splitlines()[1:] == [
        f"stopped: no better validation for {words}"
    ]


def test_the_last_epoch_is_no_early_stop():
    console = Console(file=StringIO())
    steps = training(epochs=5, patience=1)
    Display(console, "words", lambda _: "cost 1")(steps, validation(5, best=False, stop=True))
    assert "stopped" not in console.file.getvalue()


def test_a_training_that_stops_early_says_so():
    console = Console(file=StringIO())
    steps = training(epochs=9, patience=1, learning_rate=1e-9)
    with Display(console, "words", lambda _: "cost 1") as display:
        fit(steps, display)
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[-1] == "stopped: no better validation for 1 epoch"


# --- a terminal ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [30, 80, 200])
def test_on_a_terminal_there_is_a_bar(width):
    console = Console(file=StringIO(), force_terminal=True, width=width)
    _, lines = watched(console)
    text = "".join(lines)
    assert "epoch 1/2" in text
    assert f"validation {JUDGMENT}" in text
    assert "\x1b[?25h" in text  # the cursor is back


def test_the_bar_ends_when_training_fails():
    console = Console(file=StringIO(), force_terminal=True)
    failing = Mock(side_effect=RuntimeError("as told"))
    display = Display(console, "words", lambda _: JUDGMENT)
    with pytest.raises(RuntimeError, match="as told"), display:
        fit(training(), display, failing)
    assert "\x1b[?25h" in console.file.getvalue()


def test_a_quiet_console_shows_nothing():
    _, lines = watched(Console(file=StringIO(), quiet=True))
    assert lines == []


# --- averages -----------------------------------------------------------------------------------


def test_nothing_counted_yet(clock):
    assert Recent().describe("arcs") == "loss 0.000  cost increases 0.0%  0 arcs/s"


def test_large_numbers_are_grouped(clock):
    recent = Recent()
    clock.seconds += 1
    recent.add(round_of(1, steps=(12_000, 345)))
    assert recent.describe("words").endswith("  12,345 words/s")


# --- notebooks ----------------------------------------------------------------------------------


class Widget:
    """Stands for the output widget of a notebook."""

    def __init__(self):
        self.shown, self.closed, self.active = [], False, False

    def __enter__(self):
        self.active = True

    def __exit__(self, *error):
        self.active = False

    def clear_output(self, wait):
        self.shown.clear()

    def close(self):
        self.closed = True


@pytest.fixture
def notebook(monkeypatch):
    """The modules that rich draws with in a notebook; returns what the cell shows."""
    cell, widgets = [], []

    def output():
        widgets.append(Widget())
        return widgets[-1]

    def display(shown):
        within = [widget for widget in widgets if widget.active]
        (within[0].shown if within else cell).append(shown)

    for name, content in (("IPython", {}), ("IPython.display", {"display": display})):
        monkeypatch.setitem(sys.modules, name, module_with(name, **content))
    monkeypatch.setitem(sys.modules, "ipywidgets", module_with("ipywidgets", Output=output))
    return cell


def module_with(name, **content):
    made = ModuleType(name)
    made.__spec__ = ModuleSpec(name, None)
    vars(made).update(content)
    return made


def test_a_notebook_has_a_bar_and_a_line_per_epoch(notebook, clock):
    steps = training(epochs=2)
    with Display(Console(force_jupyter=True), "words", lambda _: "cost 1") as display:
        (widget,) = notebook
        clock.seconds += 1
        display(steps, round_of(1))
        clock.seconds += 0.1
        display(steps, round_of(2))
        (bar,) = widget.shown
        assert bar.text.startswith("epoch 1/2 ")
        assert "loss 1.500" in bar.text
        assert not widget.closed
        display(steps, validation(1))
    assert widget.closed
    lines = [shown.text.split("  ")[0] for shown in notebook[1:] if shown.text]
    assert lines == ["epoch 1/2"]


def test_a_notebook_without_widgets_has_lines(monkeypatch, clock):
    printed = []
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    console = Console(force_jupyter=True)
    monkeypatch.setattr(console, "print", lambda line, **_: printed.append(line))
    steps = training(epochs=2)
    with Display(console, "words", lambda _: "cost 1") as display:
        clock.seconds += 21
        display(steps, round_of(1))
        display(steps, validation(1))
    assert [line.split("  ")[:2] for line in printed] == [
        ["epoch 1/2", "17%"],
        ["epoch 1/2", "loss 1.500"],
    ]
