"""Tangents of a convex function: what they prove about its minimum over a ball."""

import torch
from jaxtyping import Float
from torch import Tensor

Vector = Float[Tensor, " d"]
LEVEL = 0.7
"""The level of the next point, as a share of the way from the lower bound to the value."""
LARGEST = 100
"""Beyond this many, tangents that are not needed are dropped."""


class Tangents:
    """Tangents height_j + slope_j . theta of a convex function, and their bounds over a ball."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.heights: Float[Tensor, " j"] = torch.zeros(0)
        self.slopes: Float[Tensor, "j d"] = torch.zeros(0, 0)
        self.gram: Float[Tensor, "j j"] = torch.zeros(0, 0)
        self.weights: list[Float[Tensor, " j"]] = []
        """Weights of the tangents at the two points that `search` computed last."""

    def add(self, point: Vector, value: float, slope: Vector) -> None:
        """Add the tangent at a point; refuse a value below an earlier tangent."""
        height = (value - slope @ point)[None]
        if not self.weights:
            self.heights, self.slopes = height, slope[None]
            self.weights = [torch.ones_like(height)] * 2
        else:
            _check_below(float((self.heights + self.slopes @ point).max()), value)
            self._drop()
            self.heights = torch.cat([self.heights, height])
            self.slopes = torch.cat([self.slopes, slope[None]])
            self.weights = [torch.cat([w, w.new_zeros(1)]) for w in self.weights]
        self.gram = self.slopes @ self.slopes.T

    def _drop(self) -> None:
        """Drop old tangents that the last points did not depend on."""
        if len(self.heights) < LARGEST:
            return
        needed = (self.weights[0] > 0) | (self.weights[1] > 0)
        needed[-LARGEST // 2 :] = True
        self.heights, self.slopes = self.heights[needed], self.slopes[needed]
        self.weights = [w[needed] for w in self.weights]

    def search(
        self, best: Vector, value: float, lower: float, enough: float
    ) -> tuple[float, Vector]:
        """Raise the lower bound as far as the tangents prove; return it and the next point."""
        while True:
            lower = max([lower, *map(self.bound, self.weights)])
            _check_below(lower, value)
            level = lower + LEVEL * (value - lower)
            if value - lower <= enough:
                return lower, best
            # The nearest point to zero is in the ball, or none of that level is.
            inner = self._nearest(0, torch.zeros_like(best), level, enough)
            if self.bound(self.weights[0]) < level:
                break
        inner = inner * min(1.0, self.radius / max(float(inner.norm()), 1e-300))
        outer = self._nearest(1, best, level, enough)
        return max([lower, *map(self.bound, self.weights)]), self._inside(inner, outer)

    def bound(self, weights: Float[Tensor, " j"]) -> float:
        """The minimum over the ball of a weighted mean of tangents: the function's is no lower.

        (sum_j w_j height_j - R |sum_j w_j slope_j|) / sum_j w_j
        """
        total = float(weights.sum())
        if total <= 0:
            return -torch.inf
        least = weights @ self.heights - self.radius * (weights @ self.slopes).norm()
        return float(least) / total

    def _nearest(self, number: int, center: Vector, level: float, enough: float) -> Vector:
        """The nearest point to `center` where all tangents are below `level`, by its dual."""
        above = self.heights + self.slopes @ center - level
        self.weights[number] = _active_set(self.gram, above, self.weights[number], 1e-3 * enough)
        return center - self.weights[number] @ self.slopes

    def _inside(self, inner: Vector, outer: Vector) -> Vector:
        """The last point in the ball on the way from `inner`, which lies in it, to `outer`."""
        if float(outer.norm()) <= self.radius:
            return outer
        way = outer - inner
        a, b = way @ way, inner @ way
        c = (inner @ inner - self.radius**2).clamp(max=0.0)
        return inner + ((b * b - a * c).sqrt() - b) / a * way


def _check_below(bound: float, value: float) -> None:
    """Refuse a function that is not convex: one of its tangents lies above it."""
    if bound - value > 1e-8 * max(1.0, abs(value)):
        raise ValueError(
            f"A certified minimum needs a loss that is convex in the weights, got {value} where "
            f"its tangents are at {bound}; declare the loss with `convex=False`, or pass "
            "`linear=False` for an estimate."
        )


def _active_set(
    gram: Float[Tensor, "j j"],
    linear: Float[Tensor, " j"],
    start: Float[Tensor, " j"],
    slack: float,
) -> Float[Tensor, " j"]:
    """argmin over w >= 0 of w . gram w / 2 - linear . w (Lawson and Hanson 1974).

    Up to `slack` in the conditions of optimality, and from the places where `start` is positive.
    """
    w, active = start.clone(), start > 0
    ridged = gram + 1e-13 * gram.diagonal().max() * torch.eye(len(gram)).to(gram)
    for _ in range(20 * len(gram)):
        goal = torch.zeros_like(w)
        goal[active] = torch.linalg.solve(ridged[active][:, active], linear[active])
        blocked = active & (goal <= 0)
        if bool(blocked.any()):
            reach = (w / (w - goal).clamp(min=1e-300)).masked_fill(~blocked, torch.inf)
            first = int(reach.argmin())
            w = (w + float(reach[first]) * (goal - w)).clamp(min=0.0)
            w[first], active[first] = 0.0, False
            continue
        w = goal
        gain = (linear - gram @ w).masked_fill(active, -torch.inf)
        entering = int(gain.argmax())
        if float(gain[entering]) <= slack:
            break
        active[entering] = True
    return w
