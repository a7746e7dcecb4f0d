"""The figure of `beamlearn demo`, from the numbers that one run of it wrote (demo.json)."""

import json
from pathlib import Path

from .axes import Axes
from .drawing import Drawing

NUMBERS = Path(__file__).with_name("demo.json")


def demo() -> str:
    """How right the same network is, trained in two ways, by the width of the beam."""
    rows = json.loads(NUMBERS.read_text(encoding="utf-8"))["results"]
    drawing = Drawing(700, 330, "The demo: characters labeled right, by the width of the beam")
    axes = Axes(drawing, 52, 40, 430, 225, (0, 4), (74, 83))
    axes.frame([], range(74, 84, 2), 12)
    for place, width in enumerate((1, 2, 4, 8, 16)):
        x, y = axes.at(place, 74)
        drawing.text(x, y + 20, str(width), "soft", "middle", 12)
    lines = (("beam", "blue", "with the beam"), ("likelihood", "orange", "by likelihood"))
    for model, color, words in lines:
        rates = [100 * row["accuracy"] for row in rows if row["model"] == model]
        points = list(enumerate(rates))
        axes.curve(points, color, 3)
        for point in points:
            drawing.dot(*axes.at(*point), 4, color)
        x, y = axes.at(*points[-1])
        drawing.text(x + 14, y, f"trained {words}", color, weight=600)
        drawing.text(x + 14, y + 17, f"{rates[-1]:.1f} %", color)
    drawing.text(10, 20, "characters labeled right (%)", size=13)
    drawing.text(267, 310, "width of the beam at test time", anchor="middle")
    return drawing.svg()
