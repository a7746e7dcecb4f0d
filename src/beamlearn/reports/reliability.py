"""Confidences against what became of them."""

from math import sqrt
from typing import Any

from ..evaluation.calibration import Bin
from .errors import Numbered
from .figure import plain
from .lines import Axis, Line, Point, draw_lines
from .palette import THEMED
from .part import Part
from .wording import percent

ERRORS = 2
"""A gap of more standard errors than these is more than luck."""
CONFIDENCE, RIGHT = Axis("confidence", "confidence (%)"), Axis("right", "share that is right (%)")


def calibrated(profiles: Numbered) -> Part | None:
    """The reliability diagram, one line for each profile."""
    filled = {
        number: (label, bins)
        for number, (label, profile) in profiles.items()
        if (bins := [one for one in profile.bins if one.size])
    }
    if not filled:
        return None
    lines = [
        Line(label, tuple(point(label, one) for one in bins), number)
        for number, (label, bins) in filled.items()
    ]
    told = tuple(trusted(*one) for one in filled.values())
    title = "Reliability: on the diagonal, confidences mean what they say"
    label, bins = list(filled.values())[-1]

    def prepare(axes: Any) -> None:
        square(axes)
        counted(axes, label, bins)

    figure = draw_lines("reliability", title, lines, CONFIDENCE, RIGHT, prepare=prepare)
    return Part("reliability", "Do confidences mean what they say?", told, (figure,))


def point(label: str, one: Bin) -> Point:
    """A bin."""
    told = (
        f"{label}: {one.size:,} with a confidence of about {percent(one.confidence)}, "
        f"{percent(one.correct)} of them right"
    )
    return Point(100 * one.confidence, 100 * one.correct, told, facts={"count": one.size})


def trusted(label: str, bins: list[Bin]) -> str:
    """Too sure or not sure enough, and by how much; a gap that luck may make is none.

    The standard error of the share right is the larger of that of the share that came and that of
    the share which the confidences promise:  sqrt(right (1 - right) / n)  and
    sqrt(sum_i sure[i] (1 - sure[i])) / n.
    """
    count = sum(one.size for one in bins)
    sure = sum(one.confidence * one.size for one in bins) / count
    right = sum(one.correct * one.size for one in bins) / count
    error = sum(abs(one.confidence - one.correct) * one.size for one in bins) / count
    promised = sum(one.size * one.confidence * (1 - one.confidence) for one in bins)
    luck = sqrt(max(right * (1 - right) * count, promised, 0.0)) / count
    gap = "the two agree as far as so many confidences tell"
    if abs(sure - right) > ERRORS * luck and percent(sure) != percent(right):
        gap = "it is too sure" if sure > right else "it is not sure enough"
    return (
        f"With {label}, {count:,} confidences are {percent(sure)} on average, and "
        f"{percent(right)} are right, so {gap}; the expected calibration error is "
        f"{percent(error)}."
    )


def counted(axes: Any, label: str, bins: list[Bin]) -> None:
    """How many of the confidences of a profile are in each bin, in percent."""
    count = sum(one.size for one in bins)
    axes.bar(
        [100 * one.confidence for one in bins],
        [100 * one.size / max(1, count) for one in bins],
        width=4,
        color=THEMED.soft,
        alpha=0.35,
        zorder=0,
        label=plain(f"how many, {label}"),
    )


def square(axes: Any) -> None:
    """Percent against percent, with the diagonal."""
    axes.plot([0, 100], [0, 100], color=THEMED.soft, linewidth=0.8, linestyle=":", zorder=1)
    axes.set_xlim(-2, 102)
    axes.set_ylim(-2, 102)
