"""Where outputs go wrong: at which steps, and because of the search or the model."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..evaluation.error_profile import ErrorProfile
from .figure import PageFigure, canvas, plain
from .lines import Axis, Line, Point, draw_lines, from_zero
from .palette import THEMED
from .section import Section
from .wording import percent

BINS = 40
"""The most bins for the steps of a trajectory."""
FEW, RARE = 5, 0.02
"""Steps that fewer examples, or a smaller share of them, reach are merged into the last bin."""
EARLY = 5
"""The steps that are called the first ones."""
STEP, SHARE = (
    Axis("step", "step of the search"),
    Axis("share", "share of steps that raise cost (%)"),
)

Numbered = Mapping[int, tuple[str, ErrorProfile]]
"""Labels and profiles by the numbers of their lines."""


class Steps(NamedTuple):
    """Some steps of all trajectories."""

    first: int
    """From 1 on."""
    last: int
    reached: int
    """How often they were taken."""
    increases: int

    @property
    def share(self) -> float:
        """The share of them at which the cost rose."""
        return self.increases / max(1, self.reached)

    @property
    def named(self) -> str:
        """What they are called."""
        return (
            f"step {self.first}"
            if self.first == self.last
            else f"steps {self.first} to {self.last}"
        )


def binned(profile: ErrorProfile) -> list[Steps]:
    """The steps in bins of equal length; the last bin has all steps that few examples reach."""
    least = max(FEW, RARE * max(profile.steps_at, default=0))
    often = sum(count >= least for count in profile.steps_at) or len(profile.steps_at)
    size = max(1, -(-often // BINS))
    firsts = list(range(0, often, size))
    ends = [*firsts, len(profile.steps_at)][1:]
    return [
        Steps(i + 1, end, sum(profile.steps_at[i:end]), sum(profile.increases_at[i:end]))
        for i, end in zip(firsts, ends, strict=True)
    ]


def by_position(profiles: Numbered) -> Section | None:
    """The share of steps at which the cost rises, along the trajectory."""
    lines = []
    for number, (label, profile) in profiles.items():
        bins = binned(profile)
        size = bins[1].first - bins[0].first if len(bins) > 1 else 1
        points = tuple(
            Point(
                steps.first + (size - 1) / 2,
                100 * steps.share,
                f"{label}, {steps.named}: {percent(steps.share)} of {steps.reached:,}",
                facts={"first": steps.first, "last": steps.last, "steps": steps.reached},
            )
            for steps in bins
        )
        if points:
            lines.append(Line(label, points, number))
    if not lines:
        return None
    sentences = tuple(early_or_late(*one) for one in profiles.values())
    title = "Steps at which the cost rises"
    figure = draw_lines("positions", title, lines, STEP, SHARE, prepare=from_zero)
    return Section("positions", "At which steps do errors happen?", sentences, (figure,))


def early_or_late(label: str, profile: ErrorProfile) -> str:
    """Compare the first steps with the others."""
    whole = Steps(1, len(profile.steps_at), sum(profile.steps_at), sum(profile.increases_at))
    whole_share = f"With {label}, the cost rises at {percent(whole.share)} of all steps"
    if len(profile.steps_at) <= EARLY:
        return f"{whole_share}."
    first = Steps(1, EARLY, sum(profile.steps_at[:EARLY]), sum(profile.increases_at[:EARLY]))
    rest = Steps(
        EARLY + 1, whole.last, whole.reached - first.reached, whole.increases - first.increases
    )
    return (
        f"{whole_share}: {percent(first.share)} of the first {EARLY} and {percent(rest.share)} of "
        "the later ones."
    )


def blamed(profiles: Sequence[tuple[str, ErrorProfile]]) -> Section | None:
    """Right outputs, search errors and model errors, as shares of the examples."""
    if not profiles:
        return None
    sentences = tuple(blame(label, profile) for label, profile in (profiles[0], profiles[-1]))
    first = (
        "A search error is a wrong output that the model scores lower than the best possible one, "
        "so a wider beam may fix it; a model error is a wrong output that the model prefers."
    )
    return Section(
        "blame",
        "Search errors and model errors",
        (first, *dict.fromkeys(sentences)),
        (stacked(profiles),),
    )


def blame(label: str, profile: ErrorProfile) -> str:
    """The share of search errors."""
    wrong = profile.search_errors + profile.model_errors
    if wrong == 0:
        return f"With {label}, all {profile.examples:,} outputs are the best possible ones."
    return (
        f"With {label}, {percent(wrong / profile.examples)} of the outputs could be better; "
        f"{percent(profile.search_errors / wrong)} of these are search errors."
    )


def stacked(profiles: Sequence[tuple[str, ErrorProfile]]) -> PageFigure:
    """One bar for each profile."""
    kinds = {
        "right": ("right", THEMED.green, ""),
        "search_errors": ("search error", THEMED.orange, "///"),
        "model_errors": ("model error", THEMED.purple, "..."),
    }
    with canvas("blame", height=0.8 + 0.24 * len(profiles)) as paper:
        axes = paper.axes
        axes.grid(visible=False, axis="y")
        for place, (label, profile) in enumerate(profiles):
            begin = 0.0
            for name, (kind, color, hatch) in kinds.items():
                count = getattr(profile, name)
                size = 100 * count / profile.examples
                (bar,) = axes.barh(
                    place,
                    size,
                    left=begin,
                    height=0.72,
                    color=color,
                    edgecolor=THEMED.paper,
                    hatch=hatch,
                    linewidth=0.5,
                    label=kind if place == 0 else "_",
                )
                tooltip = (
                    f"{label}, {kind}: {percent(size / 100)} ({count:,} of {profile.examples:,})"
                )
                paper.mark(bar, [tooltip])
                begin += size
        axes.set_xlim(0, 100)
        axes.set_ylim(len(profiles) - 0.5, -0.5)
        axes.set_yticks(range(len(profiles)), [plain(label) for label, _ in profiles])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("share of the examples (%)")
        paper.legend()
        rows = [
            {"line": label, "width": one.width, **{name: getattr(one, name) for name in kinds}}
            for label, one in profiles
        ]
        return paper.finish("Right outputs, search errors and model errors", rows)
