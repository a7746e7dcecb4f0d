"""The figure of a certificate: the bound and its parts, against the number of examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..theory.certificate import Certificate
from ..theory.numbers import loss_phrase
from .figure_file import FigureError, check_matplotlib, empty_figure, write_figure
from .palette import PRINTED, Palette


@dataclass(frozen=True)
class Curve:
    """Certificates after growing numbers of examples, with measured losses."""

    certificates: Sequence[Certificate]
    population: Sequence[tuple[int, float]] = ()
    """Numbers of examples, each with the mean test loss of the mixture after them."""


def draw_bound(curve: Curve, path: Path) -> None:
    """Write the figure of a curve."""
    figure, axes = empty_figure(6.8, 4.2)
    draw_parts(axes, curve, PRINTED)
    last = curve.certificates[-1]
    axes.set_title(f"{last.statement}, delta = {last.delta:g}", fontsize=10)
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_figure(figure, path)


def draw_parts(axes: Any, curve: Curve, colors: Palette) -> tuple[Any, Any]:
    """Stack the parts of the bound, and draw the measured test loss.

    Returns the lines of the bound and of the mean training loss.
    """
    found = curve.certificates
    counts = [one.rounds for one in found]
    empirical = [one.empirical_loss for one in found]
    rolled = [one.empirical_loss + one.roll_in_gap for one in found]
    bound = [one.bound for one in found]
    (above,) = axes.plot(
        counts, bound, color=colors.ink, marker="o", markersize=3, label="certified bound"
    )
    axes.fill_between(counts, rolled, bound, color=colors.orange, alpha=0.35, label="deviation")
    if any(one.roll_in_gap for one in found):
        axes.fill_between(
            counts,
            empirical,
            rolled,
            color=colors.green,
            alpha=0.35,
            hatch="//",
            label="roll-in gap",
        )
    (below,) = axes.plot(
        counts, empirical, color=colors.blue, marker="s", markersize=3, label="mean training loss"
    )
    if curve.population:
        places, values = zip(*curve.population, strict=True)
        axes.plot(
            places, values, color=colors.green, marker="^", linestyle="--", label="mean test loss"
        )
    upper = found[-1].upper
    axes.axhline(upper, color=colors.soft, linewidth=0.8, linestyle=":")
    axes.annotate("u: largest value", (counts[-1], upper), fontsize=8, ha="right", va="bottom")
    axes.set_xscale("log")
    axes.set_xlabel("examples, each seen once")
    axes.set_ylabel(f"{loss_phrase(upper, found[-1].clip)} of the mixture")
    axes.set_ylim(bottom=0)
    return above, below


def check_drawable(path: Path) -> None:
    """Refuse at once what could not be drawn after a long computation."""
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise FigureError(f"`figure` must end in .svg, .png or .pdf, got {path.name!r}.")
    check_matplotlib()
