"""Is it worth training with the beam? What becomes of the best outputs, and a verdict."""

from ..evaluation.diagnosis import TENTHS, Diagnosis
from ..evaluation.findings import Findings
from .figure import PageFigure
from .lines import Axis, Line, Point, at_widths, draw_lines, from_zero
from .section import Section, Table
from .widths import WIDTH
from .wording import percent

KINDS = {
    "fallen": "fell out of the beam",
    "listed": "on the final list, but not on top",
    "right": "on top",
}
"""What can become of the best reachable output."""
SHARE = Axis("share", "share of the examples (%)")
PART = Axis("part", "part of the search that is over (%)")
FALLS = Axis("share", "share of the falls (%)")


def diagnosed(found: Findings) -> Section:
    """The diagnosis of a run: numbers at each width, figures, and the verdict."""
    heads = ("", *(f"beam {one.width}" for one in found.diagnoses))
    figures = [] if len(found.diagnoses) < 2 else [against_width(found)]
    fallen = [one for one in dict.fromkeys((found.diagnoses[0], found.main)) if one.fallen]
    figures += [by_part(fallen)] if fallen else []
    return Section(
        "diagnosis",
        "Is it worth training with the beam?",
        found.sentences,
        tuple(figures),
        (Table(heads, found.table),),
    )


def against_width(found: Findings) -> PageFigure:
    """What becomes of the best outputs, against the width of the beam."""
    lines = [
        Line(
            kind,
            tuple(
                Point(
                    one.width,
                    100 * one.share(name),
                    f"beam {one.width}, {kind}: {percent(one.share(name))}",
                    facts={"examples": getattr(one, name)},
                )
                for one in found.diagnoses
            ),
            number,
        )
        for number, (name, kind) in enumerate(KINDS.items())
    ]
    widths = at_widths([one.width for one in found.diagnoses])
    title = "What becomes of the best reachable output"
    return draw_lines("fates", title, lines, WIDTH, SHARE, prepare=widths)


def by_part(found: list[Diagnosis]) -> PageFigure:
    """When in a search the best outputs fall out of the beam."""
    lines = [
        Line(
            f"beam {one.width}",
            tuple(
                Point(
                    100 * (part + 0.5) / TENTHS,
                    100 * count / one.fallen,
                    f"beam {one.width}, tenth {part + 1} of the search: "
                    f"{percent(count / one.fallen)} of {one.fallen:,} falls",
                    facts={"falls": count},
                )
                for part, count in enumerate(one.fallen_in)
            ),
            number,
        )
        for number, one in enumerate(found)
    ]
    title = "When the best reachable output falls out of the beam"
    return draw_lines("falls", title, lines, PART, FALLS, prepare=from_zero)
