"""Colors, markers and dashes; lines differ in all three, so that color is never the only cue."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Palette:
    """The colors of a figure."""

    ink: str
    soft: str
    line: str
    paper: str
    blue: str
    orange: str
    green: str
    purple: str
    red: str
    sky: str

    @property
    def hues(self) -> tuple[str, ...]:
        """For one line after the other."""
        return (self.blue, self.orange, self.green, self.purple, self.red, self.sky)


PRINTED = Palette(
    ink="#000000",
    soft="#777777",
    line="#cccccc",
    paper="#ffffff",
    blue="#0072b2",
    orange="#e69f00",
    green="#009e73",
    purple="#cc79a7",
    red="#d55e00",
    sky="#56b4e9",
)
"""From the palette by Okabe and Ito, which color-blind people can distinguish."""
NAMES = tuple(Palette.__dataclass_fields__)
THEMED = Palette(**{name: f"#fe00{place:02x}" for place, name in enumerate(NAMES, 1)})
"""Stand-ins; `themed` puts the variables of the page in their place."""
MARKERS = "osD^vPX*"
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


def themed(svg: str) -> str:
    """A drawing with the colors of the page that it is on, light, dark or printed.

    >>> themed(f"fill: {THEMED.ink}")
    'fill: var(--ink)'
    """
    for name in NAMES:
        svg = svg.replace(getattr(THEMED, name), f"var(--{name})")
    return svg


def line_style(number: int) -> dict[str, Any]:
    """How the line with this number is drawn."""
    return {
        "color": THEMED.hues[number % len(THEMED.hues)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
    }
