"""A small pair of axes in a drawing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .drawing import Drawing


@dataclass(frozen=True)
class Axes:
    """Where values are in a drawing: the frame in pixels, and the ranges that it shows."""

    drawing: Drawing
    left: float
    top: float
    width: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point; what is too high or too low ends at the frame."""
        low, high = self.up
        part = (min(max(y, low), high) - low) / (high - low)
        shift = (x - self.across[0]) / (self.across[1] - self.across[0])
        return self.left + shift * self.width, self.top + (1 - part) * self.height

    def frame(self, ticks: Sequence[float], marks: Sequence[float], size: float = 11) -> None:
        """Draw both axes with numbers."""
        low = self.up[0]
        for mark in marks:
            self.drawing.line([self.at(self.across[0], mark), self.at(self.across[1], mark)])
            x, y = self.at(self.across[0], mark)
            self.drawing.text(x - 6, y + 4, f"{mark:g}", "soft", "end", size)
        for tick in ticks:
            x, y = self.at(tick, low)
            self.drawing.line([(x, y), (x, y + 4)], "soft", 1)
            self.drawing.text(x, y + 16, f"{tick:g}", "soft", "middle", size)
        self.drawing.line([self.at(self.across[0], low), self.at(self.across[1], low)], "soft", 1)

    def curve(
        self,
        points: Iterable[tuple[float, float]],
        color: str,
        width: float = 2.5,
        dashes: str = "none",
    ) -> None:
        """Draw a line through values, cut where it leaves the frame."""
        inside: list[tuple[float, float]] = []
        low, high = self.up
        before: tuple[float, float] | None = None
        for x, y in points:
            if before is not None and (before[1] > high) != (y > high):
                part = (high - before[1]) / (y - before[1])
                inside.append((before[0] + part * (x - before[0]), high))
                if y > high:
                    self.drawing.line([self.at(*one) for one in inside], color, width, dashes)
                    inside = []
            if low <= y <= high:
                inside.append((x, y))
            before = (x, y)
        if len(inside) > 1:
            self.drawing.line([self.at(*one) for one in inside], color, width, dashes)
