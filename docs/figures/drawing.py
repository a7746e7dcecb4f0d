"""Drawings as SVG, in colors that follow the page, light or dark."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

STYLE = """
.drawing {
  --ink: #1b1b1b; --soft: #5f5f5f; --line: #d0d0ca; --panel: #f5f5f2; --paper: #ffffff;
  --blue: #0072b2; --orange: #b86a00; --green: #007a5a; --red: #c23b00; --purple: #a8487c;
  font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  .drawing {
    --ink: #ececea; --soft: #a5a5a0; --line: #44474d; --panel: #1f2226; --paper: #15171a;
    --blue: #6cbaf0; --orange: #e9a63a; --green: #3ec8a0; --red: #ff8f62; --purple: #e09ac2;
  }
}
"""
"""For readers that show the file alone; the site has the same colors and its own switch."""


class Drawing:
    """An SVG that grows shape by shape; colors are names such as `blue`."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.shapes: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        color: str = "ink",
        anchor: str = "start",
        size: float = 13,
        weight: int = 400,
    ) -> None:
        """Write words; y is their base line."""
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="fill: var(--{color}); '
            f'font-size: {size:g}px; font-weight: {weight}">{escape(words)}</text>'
        )

    def line(
        self,
        points: Iterable[tuple[float, float]],
        color: str = "line",
        width: float = 1.5,
        dashes: str = "none",
    ) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(
            f'<polyline points="{path}" style="fill: none; stroke: var(--{color}); '
            f'stroke-width: {width:g}; stroke-dasharray: {dashes}; stroke-linejoin: round"/>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: str = "line",
        fill: str = "paper",
        dashes: str = "none",
        stroke: float = 1.5,
    ) -> None:
        """Draw a box with round corners; x and y are those of its middle."""
        self.shapes.append(
            f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="7" style="fill: var(--{fill}); stroke: var(--{color}); '
            f'stroke-width: {stroke:g}; stroke-dasharray: {dashes}"/>'
        )

    def dot(self, x: float, y: float, radius: float, color: str, fill: str | None = None) -> None:
        """Draw a circle."""
        self.shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" style="fill: '
            f'var(--{fill or color}); stroke: var(--{color}); stroke-width: 2"/>'
        )

    def svg(self) -> str:
        """The drawing as a file."""
        shapes = "\n".join(self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}">\n'
            f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n{shapes}\n</svg>\n"
        )
