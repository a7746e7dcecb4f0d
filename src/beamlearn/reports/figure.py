"""Figures of a page: inline SVG in the colors of the page, with values to read and to download."""

import re
import warnings
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any, final
from xml.etree import ElementTree

from ..comparison.results import as_csv
from .figure_file import empty_figure
from .pages import Markup
from .palette import THEMED, themed

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
ElementTree.register_namespace("", SVG[1:-1])
LEGEND = 68
"""How many letters fit into a line of a legend."""
STYLE: dict[Any, Any] = {
    "axes.edgecolor": THEMED.soft,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": THEMED.ink,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "grid.color": THEMED.line,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "beamlearn",
    "text.color": THEMED.ink,
    "text.parse_math": False,
    "xtick.color": THEMED.soft,
    "xtick.labelcolor": THEMED.ink,
    "ytick.color": THEMED.soft,
    "ytick.labelcolor": THEMED.ink,
}


@dataclass(frozen=True)
class PageFigure:
    """A figure, and the numbers that are in it."""

    name: str
    """Of its element, and of the file to download."""
    title: str
    svg: Markup
    rows: tuple[Mapping[str, Any], ...]

    @property
    def link(self) -> str:
        """A data URL with the numbers as CSV."""
        data = b64encode(as_csv(self.rows).encode()).decode()
        return f"data:text/csv;charset=utf-8;base64,{data}"


@final
class Canvas:
    """A figure while it is drawn; see `canvas`."""

    def __init__(self, name: str, width: float, height: float) -> None:
        self.name = name
        self.figure, self.axes = empty_figure(width, height)
        self.axes.set_axisbelow(True)
        self.marks: dict[str, list[str]] = {}

    def mark(self, artist: Any, tooltips: Sequence[str]) -> None:
        """Give a tooltip to each mark of a line, or to a patch."""
        artist.set_gid(f"mark{len(self.marks)}")
        self.marks[artist.get_gid()] = [plain(text) for text in tooltips]

    def legend(self) -> None:
        """Put the legend below the figure, which grows to make room for it."""
        handles, labels = self.axes.get_legend_handles_labels()
        columns = max(1, LEGEND // max(map(len, labels)))
        width, height = self.figure.get_size_inches()
        self.figure.set_size_inches(width, height + 0.18 * (1 + (len(labels) - 1) // columns))
        self.figure.legend(handles, labels, loc="outside lower left", ncols=columns)

    def finish(self, title: str, rows: Sequence[Mapping[str, Any]]) -> PageFigure:
        """The figure as it is now."""
        text = StringIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from")  # the browser has another
            self.figure.savefig(text, format="svg", metadata={"Date": None})
        return PageFigure(self.name, title, self.inline(text.getvalue(), title), tuple(rows))

    def inline(self, svg: str, title: str) -> Markup:
        """A drawing of matplotlib, made fit to be one of several on a page."""
        root = ElementTree.fromstring(svg)
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag in (SVG + "metadata", SVG + "style"):  # the style is for all of a page
                    parent.remove(child)
        for element in root.iter():
            self.retouch(element)
        for size in ("width", "height"):
            root.attrib.pop(size)
        root.attrib |= {
            "role": "group",
            "aria-label": plain(title),
            "style": "stroke-linejoin: round; stroke-linecap: butt",
        }
        return Markup(themed(ElementTree.tostring(root, encoding="unicode")))

    def retouch(self, element: ElementTree.Element) -> None:
        """Give marks their titles, and every name the name of the figure before it."""
        own = element.attrib
        if (tooltips := self.marks.get(own.get("id", ""))) is not None:
            uses = element.findall(f".//{SVG}use") or element.findall(f"{SVG}path")
            for mark, text in zip(uses, tooltips, strict=True):
                mark.attrib |= {"class": "mark", "role": "img"}
                ElementTree.SubElement(mark, f"{SVG}title").text = text
        if "id" in own:
            own["id"] = f"{self.name}-{own['id']}"
        if (target := own.pop(f"{XLINK}href", None)) is not None:
            own["href"] = f"#{self.name}-{target.removeprefix('#')}"
        for name in own.keys() & {"clip-path", "style"}:
            own[name] = own[name].replace("url(#", f"url(#{self.name}-")


@contextmanager
def canvas(name: str, width: float = 5.6, height: float = 3.1) -> Iterator[Canvas]:
    """An empty figure of this size in inches, in the style of the page."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield Canvas(name, width, height)


def plain(text: str) -> str:
    r"""A text on one line, without characters that XML cannot hold.

    >>> plain("a\n b\x00")
    'a b'
    """
    return " ".join(
        re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", text).split()
    )
