"""How large a loss can be: the `upper` that certificates need, from ranges of scores and costs."""

from collections.abc import Callable
from math import isfinite

from ..check import by_name, check_width
from ..losses import SURROGATES, AnyLoss
from ..losses.loss import Largest

PerStep = float | Callable[[int], float]
"""One number for all transitions, or a function of the transition i = 1, 2, ..."""


def loss_bound(
    loss: str | AnyLoss, *, score_range: float, cost_range: float, width: int, neighbors: int
) -> float:
    """The largest value of a loss at one beam, whatever its options.

    Scores of two neighbors differ by at most S = `score_range`, costs by at most
    C = `cost_range`; there are at most n = `neighbors` of them, and k = `width`. With C > 0 each
    bound is attained where costs are 0 or C and scores 0 or S, with high scores for the expensive
    neighbors:

    - perceptron_first, 1 < n; perceptron_last, k < n:  S
    - margin_last, k < n:  1 + S
    - cost_sensitive_margin_last, upper_bound, k < n:  C (1 + S)
    - log_loss_beam:  log(1 + (m - 1) e^S) for the m = min(k + 1, n) terms of its sum
    - log_loss_neighbors:  the same with m = n
    - cost_sensitive_margin_beam, 1 < n:  C + S
    - softmax_margin_beam:  log(k) + C + S if star(1) can fall out, k < n; else it is one of the
      n terms, log(1 + (n - 1) e^(C + S))
    - weighted pairs:  C (1 + S) P, where P is the largest number of pairs that a gap in the
      costs can split. With p neighbors below the gap that is p (n - p) for all pairs,
      p = floor(n / 2); for the hybrid min(p, k) (n - p), p = min(k, floor(n / 2)); for the
      bipartite k (n - k), k < n
    - optimal_completion:  that of log_loss_neighbors, as KL(q || p) is convex in q, thus
      largest where q is one neighbor
    - minimum_risk, 1 < n:  C (attained if k < n, else approached as S grows)

    and 0 otherwise.

    >>> loss_bound("upper_bound", score_range=4.0, cost_range=1.0, width=2, neighbors=6)
    5.0
    >>> loss_bound("upper_bound", score_range=4.0, cost_range=1.0, width=8, neighbors=6)
    0.0
    """
    for name, value in (("score_range", score_range), ("cost_range", cost_range)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(
                f"`{name}` must be a finite number of at least 0, got {value}; pass the largest "
                "difference between two neighbors of a beam."
            )
    if neighbors < 1:
        raise ValueError(
            f"`neighbors` must be at least 1, got {neighbors}; pass the most that a beam can have."
        )
    return _largest(loss)(score_range, cost_range, check_width(width), neighbors)


def trajectory_bound(
    loss: str | AnyLoss,
    *,
    horizon: int,
    score_range: PerStep,
    cost_range: PerStep,
    width: int,
    neighbors: int | Callable[[int], int],
    mean: bool = False,
) -> float:
    """The largest loss of a trajectory of at most h = `horizon` beams.

    The sum of `loss_bound` over the transitions i = 1, ..., h - 1 from b_i; ranges and numbers
    of neighbors may be functions of i. With `mean=True`, for losses that are averaged along the
    trajectory, or for a loss that is incurred once (minimum_risk): the largest of them.

    A transition into a terminal beam has width 1 (decision 2), and it may come early. So the
    bound at each transition is the larger of those for `width` and for 1.

    >>> margins = linear_score_range(radius=1.0, feature_norm=0.5, accumulate=True)
    >>> trajectory_bound("margin_last", horizon=4, score_range=margins, cost_range=1.0, width=2,
    ...     neighbors=6)
    9.0
    """
    if horizon < 1:
        raise ValueError(
            f"`horizon` must be at least 1, got {horizon}; count the beams of the longest "
            "trajectory, including the initial one."
        )

    def largest(step: int, k: int) -> float:
        return loss_bound(
            loss,
            score_range=_at(score_range, step),
            cost_range=_at(cost_range, step),
            width=k,
            neighbors=neighbors(step) if callable(neighbors) else neighbors,
        )

    steps = [max(largest(step, 1), largest(step, width)) for step in range(1, horizon)]
    once = mean or getattr(_named(loss), "final", False)
    return max(steps, default=0.0) if once else sum(steps, 0.0)


def linear_score_range(
    radius: float, feature_norm: float, *, accumulate: bool
) -> Callable[[int], float]:
    """Bound the range of the scores theta . phi among the neighbors of b_i.

    |theta| <= R = `radius` and |phi| <= F = `feature_norm` per action give |theta . phi| <= R F,
    a range of 2 R F; where scores add up along a path (`accumulate`), i actions have 2 R F i.

    >>> linear_score_range(2.0, 1.0, accumulate=True)(3)
    12.0
    """
    for name, value in (("radius", radius), ("feature_norm", feature_norm)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"`{name}` must be a finite number of at least 0, got {value}.")
    return lambda step: 2.0 * radius * feature_norm * (step if accumulate else 1)


def _at(value: PerStep, step: int) -> float:
    return value(step) if callable(value) else value


def _named(loss: str | AnyLoss) -> AnyLoss:
    return by_name(SURROGATES, loss, "loss") if isinstance(loss, str) else loss


def _largest(loss: str | AnyLoss) -> Largest:
    """The bound that a loss declares."""
    largest: Largest | None = getattr(_named(loss), "largest", None)
    if largest is None:
        name = getattr(loss, "__name__", repr(loss))
        raise ValueError(
            f"A bound needs a loss that declares its largest value, but {name!r} does not; declare "
            "it with `surrogate(..., largest=...)`."
        )
    return largest
