"""Calibration: confidences against the share that is right."""

from math import sqrt
from typing import Any

from ..evaluation.calibration import Bin
from .error_figures import Numbered
from .figure import plain
from .lines import Axis, Line, Point, draw_lines
from .palette import THEMED
from .section import Section
from .wording import percent

ERRORS = 2
"""A larger gap, in standard errors, is significant."""
CONFIDENCE, RIGHT = Axis("confidence", "confidence (%)"), Axis("right", "share that is right (%)")


def calibrated(profiles: Numbered) -> Section | None:
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
    sentences = tuple(trusted(*one) for one in filled.values())
    title = "Reliability: on the diagonal, confidence equals accuracy"
    label, bins = list(filled.values())[-1]

    def prepare(axes: Any) -> None:
        square(axes)
        counted(axes, label, bins)

    figure = draw_lines("reliability", title, lines, CONFIDENCE, RIGHT, prepare=prepare)
    return Section("reliability", "Are the confidences calibrated?", sentences, (figure,))


def point(label: str, one: Bin) -> Point:
    """A bin."""
    tooltip = (
        f"{label}: {one.size:,} with a confidence of about {percent(one.confidence)}, "
        f"{percent(one.correct)} of them right"
    )
    return Point(100 * one.confidence, 100 * one.correct, tooltip, facts={"count": one.size})


def trusted(label: str, bins: list[Bin]) -> str:
    """Say whether confidences are significantly too high or too low.

    The standard error of the share that is right is the larger of two, from the observed share and
    from the confidences:  sqrt(right (1 - right) / n)  and  sqrt(sum_i sure[i] (1 - sure[i])) / n.
    """
    count = sum(one.size for one in bins)
    sure = sum(one.confidence * one.size for one in bins) / count
    right = sum(one.correct * one.size for one in bins) / count
    error = sum(abs(one.confidence - one.correct) * one.size for one in bins) / count
    promised = sum(one.size * one.confidence * (1 - one.confidence) for one in bins)
    deviation = sqrt(max(right * (1 - right) * count, promised, 0.0)) / count
    gap = "there is no significant difference"
    if abs(sure - right) > ERRORS * deviation and percent(sure) != percent(right):
        gap = "the model is overconfident" if sure > right else "the model is underconfident"
    return (
        f"With {label}, the mean of {count:,} confidences is {percent(sure)} and the share that is "
        f"right is {percent(right)}: {gap}. The expected calibration error is {percent(error)}."
    )


def counted(axes: Any, label: str, bins: list[Bin]) -> None:
    """Bars with the share of the confidences in each bin, in percent."""
    count = sum(one.size for one in bins)
    axes.bar(
        [100 * one.confidence for one in bins],
        [100 * one.size / max(1, count) for one in bins],
        width=4,
        color=THEMED.soft,
        alpha=0.35,
        zorder=0,
        label=plain(f"share of all, {label}"),
    )


def square(axes: Any) -> None:
    """Percent against percent, with the diagonal."""
    axes.plot([0, 100], [0, 100], color=THEMED.soft, linewidth=0.8, linestyle=":", zorder=1)
    axes.set_xlim(-2, 102)
    axes.set_ylim(-2, 102)
