"""Every loss over the score of one neighbor, from the functions that training calls."""

from collections.abc import Callable

import torch

from beamlearn import losses

from .axes import Axes
from .drawing import Drawing

SCORES, COSTS, WIDTH = (0.5, 1.0, 1.5, 0.0, -0.5), (0.0, 1.0, 1.0, 2.0, 3.0), 2
"""One beam: five neighbors, of which two stay. The first is the cheapest, the last costs most."""
LOW, HIGH, POINTS = -3.0, 4.0, 281
Curve = list[tuple[float, float]]


def beams(place: int) -> tuple[torch.Tensor, torch.Tensor, list[float]]:
    """The beam once for each score that one neighbor could have."""
    grid = [LOW + (HIGH - LOW) * step / (POINTS - 1) for step in range(POINTS)]
    scores = torch.tensor([SCORES] * POINTS, dtype=torch.float64)
    scores[:, place] = torch.tensor(grid, dtype=torch.float64)
    return scores, torch.tensor([COSTS] * POINTS, dtype=torch.float64), grid


def curve(loss: Callable[..., torch.Tensor], place: int) -> Curve:
    """The values of a loss while the score of one neighbor moves."""
    scores, costs, grid = beams(place)
    return list(zip(grid, loss(scores, costs, WIDTH).tolist(), strict=True))


def transition_cost(place: int) -> Curve:
    """What the loss stands for: by how much the best completion gets worse."""
    scores, costs, grid = beams(place)
    kept = scores.sort(dim=-1, descending=True, stable=True).indices[:, :WIDTH]
    best = costs.gather(-1, kept).amin(dim=-1) - costs.amin(dim=-1)
    return list(zip(grid, best.tolist(), strict=True))


def panel(drawing: Drawing, loss: str, place: int, left: float, top: float, top_mark: int) -> Axes:
    """A loss, and the transition cost as a broken line behind it."""
    axes = Axes(drawing, left, top, 250, 150, (LOW, HIGH), (0, top_mark))
    axes.frame(range(-3, 5), [top_mark * part / 4 for part in range(5)])
    axes.curve(transition_cost(place), "orange", 2, "6 4")
    axes.curve(curve(losses.LOSSES[loss], place), "blue")
    return axes


def loss_figure(name: str) -> str:
    """The page's figure of one loss: left the cheapest neighbor moves, right the dearest."""
    drawing = Drawing(640, 255, f"{name} over the score of one neighbor")
    for place, left, words in (
        (0, 40.0, "score of the cheapest neighbor"),
        (4, 372.0, "score of the costliest neighbor"),
    ):
        highest = max(value for _, value in curve(losses.LOSSES[name], place))
        mark = next(mark for mark in (4, 8, 12, 16, 20, 40, 60, 80) if mark >= min(highest, 80))
        panel(drawing, name, place, left, 18, mark)
        drawing.text(left + 125, 210, words, anchor="middle")
    drawing.line([(160, 238), (190, 238)], "blue", 2.5)
    drawing.text(197, 242, "loss")
    drawing.line([(270, 238), (300, 238)], "orange", 2, "6 4")
    drawing.text(307, 242, "cost of the transition, which it stands for")
    return drawing.svg()


def all_losses() -> str:
    """All twelve, small, over the score of the cheapest neighbor."""
    drawing = Drawing(720, 690, "The twelve losses over the score of the cheapest neighbor")
    for number, (name, loss) in enumerate(losses.LOSSES.items()):
        left, top = 36 + 236 * (number % 3), 30 + 165 * (number // 3)
        axes = Axes(drawing, left, top, 196, 108, (LOW, HIGH), (0, 8))
        axes.frame([-2, 0, 2, 4], [0, 4, 8], 10)
        axes.curve(transition_cost(0), "orange", 1.8, "5 4")
        axes.curve(curve(loss, 0), "blue", 2.2)
        drawing.text(left, top - 9, name, size=12, weight=600)
    drawing.line([(200, 678), (230, 678)], "blue", 2.5)
    drawing.text(237, 682, "loss")
    drawing.line([(300, 678), (330, 678)], "orange", 2, "6 4")
    drawing.text(337, 682, "cost of the transition")
    return drawing.svg()
