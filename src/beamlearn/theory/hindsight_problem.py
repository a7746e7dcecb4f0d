"""What is minimized in hindsight: the average loss on stored beams, as a function of the weights.

Where scores are affine in the weights, they are differentiated once and for all (`linearized`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from ..learning.trajectory import ENTRIES_AT_ONCE, Trajectory
from ..losses import AnyLoss
from ..search.scorer import Scorer
from .tangents import Vector

Reduction = Literal["sum", "mean"]
AverageLoss = Callable[[Vector], tuple[float, Vector]]
"""The average loss at some weights, and a subgradient."""


@dataclass(frozen=True)
class Problem:
    """The average loss of the examples of stored trajectories, as a function of the weights."""

    paths: Sequence[Trajectory]
    model: Scorer
    loss: AnyLoss
    reduction: Reduction

    @property
    def parameters(self) -> list[Tensor]:
        """The tensors that make up theta."""
        return [p for p in self.model.parameters() if p.requires_grad]

    @property
    def examples(self) -> int:
        """The number of examples that the average is taken over."""
        return sum(map(len, self.paths))

    def losses(self, path: Trajectory) -> Float[Tensor, " batch"]:
        """The losses of one trajectory under the current weights."""
        return path.replay(self.model).losses(self.loss, self.reduction)

    @torch.no_grad()
    def value(self) -> float:
        """The average loss under the current weights."""
        return sum(float(self.losses(path).sum()) for path in self.paths) / self.examples

    def set(self, theta: Vector) -> None:
        """Copy weights into the model; a copy, because they are changed in place later."""
        vector_to_parameters(theta.clone(), self.parameters)

    def __call__(self, theta: Vector) -> tuple[float, Vector]:
        self.set(theta)
        value, slope = 0.0, torch.zeros_like(theta)
        for path in self.paths:
            total = self.losses(path).sum() / self.examples
            value += float(total.detach())
            if total.requires_grad:
                slope += _gradient(total[None], self.parameters)[0]
        return value, slope


DERIVATIVES_AT_ONCE = 1 << 23
"""Scores are differentiated once and for all if no trajectory has more derivatives than this."""


def fits(problem: Problem) -> bool:
    """Can the scores of a trajectory be differentiated all at once?"""
    weights = sum(p.numel() for p in problem.parameters)
    entries = max(
        sum(t.neighbors.local.numel() for t in path.transitions) for path in problem.paths
    )
    return not getattr(problem.loss, "final", False) and weights * entries <= DERIVATIVES_AT_ONCE


@dataclass(frozen=True)
class Beams:
    """Visited beams with equally many neighbors, whose scores are slope . theta + offset."""

    entries: Int[Tensor, " derivatives"]
    """The neighbor of each nonzero derivative, counted through all beams."""
    places: Int[Tensor, " derivatives"]
    """The weight that it is taken with respect to."""
    slopes: Float[Tensor, " derivatives"]
    offset: Float[Tensor, "beams n"]
    costs: Float[Tensor, "beams n"]
    width: Int[Tensor, " beams"]
    mask: Bool[Tensor, "beams n"]
    share: Float[Tensor, " beams"]
    """The weight of each beam's loss in the average."""

    def scores(self, theta: Vector) -> Float[Tensor, "beams n"]:
        """The score of every neighbor."""
        added = self.offset.flatten().index_add(0, self.entries, theta[self.places] * self.slopes)
        return added.view_as(self.offset)

    def incur(self, theta: Vector, loss: AnyLoss) -> tuple[float, Vector]:
        """The contribution of these beams to the average loss and its subgradient."""
        scores = self.scores(theta).requires_grad_()
        total = loss(scores, self.costs, self.width, self.mask) @ self.share
        pull = torch.autograd.grad(total, scores)[0].flatten()
        slope = torch.zeros_like(theta)
        return float(total.detach()), slope.index_add(
            0, self.places, pull[self.entries] * self.slopes
        )


def linearized(problem: Problem) -> AverageLoss:
    """The average loss without further replays, which are slow: one linear map gives all scores."""
    zero = torch.zeros_like(parameters_to_vector(problem.parameters))
    problem.set(zero)
    groups: dict[int, list[Beams]] = {}
    parts: list[Beams] = []
    by_path = [_beams_of(problem, path) for path in problem.paths]
    for found in by_path:
        for beams in found:
            n = beams.costs.shape[1]
            group = groups.setdefault(n, [])
            group.append(beams)
            if sum(b.costs.numel() for b in group) >= ENTRIES_AT_ONCE:
                parts.append(_concatenated(groups.pop(n)))
    parts += map(_concatenated, groups.values())
    _check_affine(problem, by_path[0])

    def average(theta: Vector) -> tuple[float, Vector]:
        value, slope = 0.0, zero
        for part in parts:
            more, steeper = part.incur(theta, problem.loss)
            value, slope = value + more, slope + steeper
        return value, slope

    return average


def _beams_of(problem: Problem, path: Trajectory) -> list[Beams]:
    """The beams of one trajectory, step by step."""
    transitions = path.replay(problem.model).transitions
    if not transitions:
        return []
    scores = [t.neighbors.scores for t in transitions]
    slopes = _gradient(torch.cat([s.flatten() for s in scores]), problem.parameters)
    steps = torch.bincount(torch.cat([t.step.examples for t in transitions]))
    if problem.reduction == "sum":
        steps = torch.ones_like(steps)
    share = 1 / (steps.to(slopes.dtype) * problem.examples)
    found = []
    for t, s, slope in zip(
        transitions, scores, slopes.split([s.numel() for s in scores]), strict=True
    ):
        entries, places = slope.nonzero(as_tuple=True)
        fields = (s.detach(), t.neighbors.costs, t.width, t.neighbors.mask, share[t.step.examples])
        found.append(Beams(entries, places, slope[entries, places], *fields))
    return found


def _concatenated(group: Sequence[Beams]) -> Beams:
    """Concatenate along the beams."""
    sizes = torch.tensor([0, *(beams.costs.numel() for beams in group)]).cumsum(0).tolist()
    entries = [beams.entries + size for beams, size in zip(group, sizes, strict=False)]
    names = ("places", "slopes", "offset", "costs", "width", "mask", "share")
    fields = ([getattr(beams, name) for beams in group] for name in names)
    return Beams(torch.cat(entries), *map(torch.cat, fields))


def _gradient(values: Float[Tensor, " n"], parameters: Sequence[Tensor]) -> Float[Tensor, "n d"]:
    """The derivative of every value with respect to every weight."""
    each = torch.eye(len(values), dtype=values.dtype, device=values.device)
    found = torch.autograd.grad(values, parameters, each, is_grads_batched=True, allow_unused=True)
    return torch.cat(
        [
            values.new_zeros(len(values), p.numel()) if g is None else g.flatten(1)
            for p, g in zip(parameters, found, strict=True)
        ],
        dim=1,
    )


@torch.no_grad()
def _check_affine(problem: Problem, beams: Sequence[Beams]) -> None:
    """Refuse a scorer whose scores on the first trajectory are not affine in the weights."""
    generator = torch.Generator().manual_seed(0)
    for p in problem.parameters:
        p.copy_(torch.randn(p.shape, generator=generator))
    theta = parameters_to_vector(problem.parameters)
    transitions = problem.paths[0].replay(problem.model).transitions
    for transition, expected in zip(transitions, beams, strict=True):
        scores = transition.neighbors.scores
        if not torch.allclose(scores, expected.scores(theta), rtol=1e-6, atol=1e-6):
            raise ValueError(
                "A certified minimum needs scores that are linear in the weights, got a nonlinear "
                f"{type(problem.model).__name__}; pass `linear=False` for an estimate."
            )
