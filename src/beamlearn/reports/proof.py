"""What a run proves: its certificates, and the figure of their parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..plural import counted
from ..theory.certificate import Certificate
from ..theory.numbers import loss_phrase
from .bound import Curve, draw_parts
from .figure import PageFigure, canvas
from .palette import THEMED
from .section import Section, Table

TICKS = 5
"""How many numbers of examples the figure names."""


@dataclass(frozen=True)
class Proof:
    """What is certified for a run."""

    curve: Curve | None
    """Certificates of the loss; None: nothing bounds it."""
    share: Certificate | None
    """The certificate of the cost, as a share of the most that an output can cost."""
    sentences: tuple[str, ...]
    """Both in words, and what they rest on."""


def proven(proof: Proof) -> Section:
    """The section for a run whose losses the theorems cover."""
    columns: dict[str, Certificate] = {}
    if proof.curve is not None:
        last = proof.curve.certificates[-1]
        columns[loss_phrase(last.upper, last.clip)] = last
    if proof.share is not None:
        columns["cost, as a share"] = proof.share
    figures = () if proof.curve is None else (figure(proof.curve),)
    tables = (table(columns),) if columns else ()
    return Section("proof", "What the run proves", proof.sentences, figures, tables)


def table(columns: Mapping[str, Certificate]) -> Table:
    """The parts of each bound."""
    names = {
        "mean on training examples, each before the update on it": "empirical_loss",
        "roll-in gap: beams that the learned policy did not choose": "roll_in_gap",
        "deviation of a sample of this size": "deviation",
        "bound: the sum of these": "bound",
        "u: largest value": "upper",
        "delta: the bound may fail with this probability": "delta",
        "examples": "rounds",
    }
    rows = [
        (label, *(f"{getattr(one, name) or 0:.6g}" for one in columns.values()))
        for label, name in names.items()
    ]
    bound = {(list(names.values()).index("bound"), 1 + i) for i in range(len(columns))}
    return Table(("", *columns), tuple(rows), frozenset(bound))


def figure(curve: Curve) -> PageFigure:
    """The bound and its parts against the number of examples."""
    found = curve.certificates
    with canvas("bound") as paper:
        lines = draw_parts(paper.axes, curve, THEMED)
        for line, name in zip(lines, ("bound", "empirical_loss"), strict=True):
            what = name.replace("_", " ")
            tooltips = [
                f"{counted(one.rounds, 'example')}: {what} {getattr(one, name):.4g}"
                for one in found
            ]
            paper.mark(line, tooltips)
        count_examples(paper.axes, [one.rounds for one in found])
        paper.legend()
        rows = [{"examples": one.rounds, **one.parts, "bound": one.bound} for one in found]
        title = f"{found[-1].statement}: the bound and its parts by number of examples"
        return paper.finish(title, rows)


def count_examples(axes: Any, counts: list[int]) -> None:
    """Label the x axis with some numbers of examples in full."""
    from matplotlib.ticker import NullLocator

    step = max(1, (len(counts) - 1) // (TICKS - 1))
    chosen = counts[::-1][::step]
    axes.set_xticks(chosen, [f"{count:,}" for count in chosen])
    axes.xaxis.set_minor_locator(NullLocator())
