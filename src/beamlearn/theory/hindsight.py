"""The best policy in hindsight: epsilon_m, the least average loss on stored trajectories.

epsilon_m = min over |theta| <= R of (1 / m) sum_t l(theta, b^t)

The beams b^t stay those that LEARN visited; only their scores change with theta. Where the loss
is convex and the scores are linear in theta, the minimum is found together with a proven bound on
the remaining gap: every tangent of a convex function lies below it, and a weighted mean of
tangents has a known minimum over the ball.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from ..check import by_name, check_choice
from ..learning.optimizers import check_positive, project
from ..learning.trajectory import Trajectory
from ..losses import AnyLoss, check_needs
from ..losses.baselines import SURROGATES
from ..search.linear_scorer import LinearScorer
from ..search.scorer import Scorer
from .hindsight_problem import Problem, Reduction, fits, linearized
from .tangents import Tangents

OnStep = Callable[[int, float, float | None], None]
"""Called after each step with the evaluations so far, the least average loss, the lower bound."""


@dataclass(frozen=True)
class Hindsight:
    """What is known about epsilon_m."""

    value: float
    """The least average loss that was found."""
    lower: float | None
    """A lower bound for all weights in the ball; None if nothing was proven."""
    weights: dict[str, Tensor]
    """The state of the scorer with the least average loss."""
    evaluations: int
    """How often the average loss of all trajectories was computed."""

    @property
    def certified(self) -> bool:
        """Is there a proven lower bound?"""
        return self.lower is not None

    @property
    def gap(self) -> float | None:
        """How far `value` can be from the minimum at most; None if that is not known."""
        return None if self.lower is None else self.value - self.lower

    def __str__(self) -> str:
        how = f"after {self.evaluations} evaluations"
        if self.lower is None:
            return f"epsilon_m is estimated at {self.value:.6g} {how}; a lower value may exist."
        return f"epsilon_m is proven to lie between {self.lower:.6g} and {self.value:.6g} {how}."


def best_in_hindsight(
    trajectories: Sequence[Trajectory | None],
    scorer: Scorer,
    loss: AnyLoss | str,
    *,
    radius: float | None = None,
    reduction: Reduction = "sum",
    steps: int = 200,
    tolerance: float = 1e-4,
    linear: bool | None = None,
    on_step: OnStep | None = None,
) -> Hindsight:
    """Find weights of `scorer` with the least average loss on the beams of `trajectories`.

    The average is over examples; trajectories come from `learn(..., trajectories=True)`. The
    search starts from the weights of the scorer, and leaves them as they are. It takes at most
    `steps` steps.

    The minimum over the ball of `radius` is certified if the loss is convex, the scores are
    linear in the weights, and the beams finish by padding (otherwise their effective width, and
    with it the loss, jumps with the scores). The search then ends as soon as the gap is at most
    `tolerance` times the larger of 1 and the value. With `linear=None`, a `LinearScorer` or a
    scorer whose attribute `linear` is true counts as linear unless it normalizes. A loss counts
    as convex if it says so; it is refused if its values contradict that. In all other cases each
    step is a pass of Adam, and the result is an estimate from above.

    >>> import beamlearn as bl, torch
    >>> def digits(goal):
    ...     more = lambda word: [word + d for d in "01"] if len(word) < 3 else []
    ...     return bl.GraphSpace("", more, cost=lambda path: float(path[-1] != goal))
    >>> scorer = bl.LinearScorer(lambda path: {"ones": path[-1].count("1")}, names=["ones"])
    >>> optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    >>> rounds = bl.learn([["101"], ["011"], ["111"]], bl.GraphTask(digits), scorer, optimizer,
    ...     loss="log_loss_neighbors", width=2, trajectories=True)
    >>> paths = [round.trajectory for round in rounds]
    >>> best = best_in_hindsight(paths, scorer, "log_loss_neighbors", radius=2.0)
    >>> best.certified, best.gap < 1e-3, round(best.value, 2)
    (True, True, 3.18)
    """
    loss = by_name(SURROGATES, loss, "loss") if isinstance(loss, str) else loss
    check_choice(reduction, ("sum", "mean"), "reduction")
    if radius is not None:
        check_positive("radius", radius)
    check_positive("tolerance", tolerance)
    check_positive("steps", steps)
    paths = [path for path in trajectories if path is not None]
    if not paths or len(paths) < len(trajectories):
        raise ValueError(
            "`trajectories` must hold at least one trajectory and no None, got "
            f"{len(trajectories)} with {len(trajectories) - len(paths)} None; keep them with "
            "`learn(..., trajectories=True)`."
        )
    for path in paths:
        check_needs(loss, path.oracle.full)
    model = deepcopy(scorer).eval()
    if not any(p.requires_grad for p in model.parameters()):
        raise ValueError(
            "`scorer` must have parameters that require a gradient, got none; without them there "
            "is nothing to optimize in hindsight."
        )
    problem = Problem(paths, model, loss, reduction)
    convex = getattr(loss, "convex", False) and all(path.finish == "pad" for path in paths)
    if linear is None:
        linear = isinstance(scorer, LinearScorer) or getattr(scorer, "linear", False)
        linear = linear and scorer.normalize is None
    lower = None
    if radius is not None and convex and linear:
        model.double()
        value, lower, evaluations = _certify(problem, radius, steps, tolerance, on_step)
    else:
        value, evaluations = _estimate(problem, radius, steps, on_step)
    found, own = model.state_dict(), scorer.state_dict()
    weights = {name: found[name].to(own[name].dtype) for name in own}
    return Hindsight(value, lower, weights, evaluations)


# --- an estimate --------------------------------------------------------------------------------

RATE = 0.01
"""The initial learning rate of Adam; it decays to 0 linearly."""


def _estimate(
    problem: Problem, radius: float | None, steps: int, on_step: OnStep | None
) -> tuple[float, int]:
    """Minimize with passes of Adam; the model keeps the best weights found."""
    model, parameters = problem.model, problem.parameters
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    order = torch.Generator().manual_seed(0)
    if radius is not None:
        project(parameters, radius)
    value, best = problem.value(), deepcopy(model.state_dict())
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - (step - 1) / steps)
        for number in torch.randperm(len(problem.paths), generator=order).tolist():
            incurred = problem.losses(problem.paths[number]).mean()
            if incurred.requires_grad:
                optimizer.zero_grad()
                incurred.backward()
                optimizer.step()
            if radius is not None:
                project(parameters, radius)
        found = problem.value()
        if found < value:
            value, best = found, deepcopy(model.state_dict())
        if on_step is not None:
            on_step(step + 1, value, None)
    model.load_state_dict(best)
    return value, steps + 1


# --- a certified minimum ------------------------------------------------------------------------

ROUNDING = 1e-12
"""A gap below this share of the value cannot be distinguished from 0."""


def _certify(
    problem: Problem, radius: float, steps: int, tolerance: float, on_step: OnStep | None
) -> tuple[float, float, int]:
    """Minimize with a level bundle method; the model keeps the best weights found.

    Lemarechal, Nemirovskii and Nesterov (1995), "New variants of bundle methods". Each step goes
    from the best point so far to a nearby one where all tangents are below a level between the
    lower bound and the value. If there is no such point in the ball, the level is a lower bound.
    """
    project(problem.parameters, radius)
    point = best = parameters_to_vector(problem.parameters).detach().clone()
    average = linearized(problem) if fits(problem) else problem
    value, lower, evaluations = torch.inf, -torch.inf, 0
    tangents = Tangents(radius)
    while evaluations < steps:
        evaluations += 1
        found, slope = average(point)
        tangents.add(point, found, slope)
        if found < value:
            value, best = found, point
        enough = max(tolerance, ROUNDING) * max(1.0, abs(value))
        lower, point = tangents.search(best, value, lower, enough)
        if on_step is not None:
            on_step(evaluations, value, lower)
        if value - lower <= enough:
            break
    problem.set(best)
    return value, min(lower, value), evaluations
