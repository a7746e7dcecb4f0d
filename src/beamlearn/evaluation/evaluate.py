"""Decode a data set and report the costs."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..learning.collect import beam_trajectory, search_trajectory
from ..learning.learn import Task
from ..learning.trajectory import Reduction, Trajectory
from ..losses import AnyLoss
from ..search.beam_search import SearchResult
from ..search.oracle import Oracle as CompletionCosts
from ..search.scorer import Scorer
from ..search.space import Finish, SearchSpace
from ..search.trace import Trace
from ..strategies import Oracle
from .fates import Fates, fates_of, merge_fates


def _nothing() -> Tensor:
    return torch.zeros(0, dtype=torch.long)


@dataclass(frozen=True)
class Evaluation:
    """The costs of the outputs that a policy chooses, example by example."""

    costs: Float[Tensor, " examples"]
    """The cost of each output."""
    regrets: Float[Tensor, " examples"]
    """The cost above that of the best output of the space: the sum of the increases."""
    increases: Int[Tensor, " examples"]
    """The number of transitions at which the cost rose."""
    search_errors: Bool[Tensor, " examples"] | None = None
    """Where a better output also has a better score: the model knew it, and the beam lost it."""
    steps_at: Int[Tensor, " steps"] = field(default_factory=_nothing)
    """The number of examples with an i-th transition."""
    increases_at: Int[Tensor, " steps"] = field(default_factory=_nothing)
    """The number of those at which the cost rose."""
    fates: Fates | None = None
    """What became of the best outputs; known if the search kept its n-best lists."""

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def cost(self) -> float:
        """Mean cost."""
        return _mean(self.costs)

    @property
    def regret(self) -> float:
        """Mean cost above the best possible."""
        return _mean(self.regrets)

    @property
    def optimum(self) -> float:
        """Mean cost of the best outputs of the spaces."""
        return self.cost - self.regret

    @property
    def increases_per_example(self) -> float:
        """Mean number of cost increases in a trajectory."""
        return float(self.increases.float().mean())

    @property
    def search_error_rate(self) -> float:
        """Among examples with a regret, the share where the search is to blame, not the model."""
        if self.search_errors is None:
            raise ValueError(
                "`search_error_rate` needs search errors, got none; call `evaluate` with "
                "`references=True`."
            )
        wrong = int((self.regrets > 0).sum())
        return int(self.search_errors.sum()) / wrong if wrong else 0.0

    def take(self, places: Int[Tensor, " some"]) -> "Evaluation":
        """Some of the examples, without the counts by step, which are of all."""
        places = places.to(self.costs.device)
        return Evaluation(
            self.costs[places],
            self.regrets[places],
            self.increases[places],
            None if self.search_errors is None else self.search_errors[places],
            fates=None if self.fates is None else self.fates.take(places),
        )

    def placed(self, numbers: Int[Tensor, " examples"]) -> "Evaluation":
        """Reorder the examples: the i-th one goes to position `numbers[i]`."""
        ordered = self.take(numbers.argsort())
        return replace(ordered, steps_at=self.steps_at, increases_at=self.increases_at)


def _mean(values: Float[Tensor, " examples"]) -> float:
    """The mean, rounded the same in any order of the examples."""
    return float(values.double().mean().to(values.dtype))


@torch.no_grad()
def on_policy_losses(
    batches: Iterable[Any],
    task: Task,
    scorer: Scorer,
    loss: AnyLoss,
    width: int = 8,
    *,
    oracle: CompletionCosts | None = None,
    finish: Finish | None = None,
    reduction: Reduction = "sum",
) -> Float[Tensor, " examples"]:
    """The loss of each example along the beams that the scorer itself chooses: l(theta, theta).

    Over all examples of a finite distribution, its mean is the expectation of Theorem 1. The
    scorer is in evaluation mode meanwhile.
    """
    with evaluating(scorer):
        collect = partial(beam_trajectory, scorer=scorer, width=width, oracle=oracle, finish=finish)
        paths = (collect(task.space(batch)) for batch in batches)
        losses = [path.losses(loss, reduction) for path in paths]
    if not losses:
        raise ValueError("`batches` must hold at least one batch, got none.")
    return torch.cat(losses)


incurred = on_policy_losses
"""Its shorter name in `bl`."""


@contextmanager
def evaluating(scorer: Scorer) -> Iterator[None]:
    """Put a scorer in evaluation mode; on exit, restore its mode."""
    training = scorer.training
    scorer.eval()
    try:
        yield
    finally:
        scorer.train(training)


@torch.no_grad()
def evaluate(
    batches: Iterable[Any],
    task: Task,
    scorer: Scorer,
    width: int = 8,
    *,
    finish: Finish | None = None,
    references: bool = False,
    final_width: int = 1,
) -> Evaluation:
    """Decode every batch with a beam of `width` and compare with the right answers.

    With a `final_width` the cost is that of the cheapest output in a list of so many.

    With `references=True` the oracle's path is scored as well, to distinguish search errors from
    model errors. The scorer is in evaluation mode meanwhile.
    """
    parts = []
    with evaluating(scorer):
        for batch in batches:
            space = task.space(batch)
            path = beam_trajectory(
                space,
                scorer,
                width,
                oracle=space.oracle().right_path(space),
                finish=finish,
                final_width=final_width,
            )
            found = _evaluation(path, scorer if references else None)
            parts.append(_with_output_costs(found, path.trace, scorer))
    if not parts:
        raise ValueError("`batches` must hold at least one batch, got none.")
    return merge_evaluations(parts)


@torch.no_grad()
def evaluate_search(
    result: SearchResult, scorer: Scorer, *, finish: Finish | None = None
) -> Evaluation:
    """Compare what a search found with the right answers, as `evaluate` does with references.

    Nothing is decoded again; `finish` is that of the search.
    """
    space = result.trace.space
    path = search_trajectory(result, space.oracle().right_path(space), finish=finish)
    with evaluating(scorer):
        found = replace(_evaluation(path, scorer), fates=fates_of(path))
        return _with_output_costs(found, result.trace, scorer)


def _evaluation(path: Trajectory, scorer: Scorer | None) -> Evaluation:
    """What a trajectory of the learned policy cost; search errors if there is a scorer."""
    regrets = path.final_costs - path.oracle.initial()
    regrets = regrets.masked_fill(regrets.abs() <= path.oracle.tolerance, 0.0)
    errors = None
    if scorer is not None:
        right = _right_path(path.space, scorer, path.finish)
        errors = (regrets > 0) & (right.final_scores > path.final_scores)
    steps, rises = [_nothing()], [_nothing()]
    for numbers, increased in numbered_increases(path):
        steps.append(numbers.cpu())
        rises.append(numbers[increased].cpu())
    steps_at = torch.bincount(torch.cat(steps))
    return Evaluation(
        path.final_costs,
        regrets,
        path.increases,
        errors,
        steps_at=steps_at,
        increases_at=torch.bincount(torch.cat(rises), minlength=len(steps_at)),
    )


def _right_path(space: SearchSpace[Any], scorer: Scorer, finish: Finish | None) -> Trajectory:
    """The oracle's path, or that of the reference behind estimated costs."""
    oracle = space.oracle().right_path(space)
    return beam_trajectory(space, scorer, 1, strategy=Oracle(), oracle=oracle, finish=finish)


def _with_output_costs(found: Evaluation, trace: Trace, scorer: Scorer) -> Evaluation:
    """The same with the costs of a metric of outputs, if the oracle has one.

    Steps are still compared with the reference: the metric says nothing of them.
    """
    oracle = trace.space.oracle()
    costs = oracle.output_costs(trace)
    if costs is None:
        return found
    optima = oracle.output_costs(_right_path(trace.space, scorer, None).trace)
    assert optima is not None  # as the others are not
    return replace(found, costs=costs, regrets=(costs - optima).clamp(min=0.0))


def merge_evaluations(parts: Sequence[Evaluation]) -> Evaluation:
    """One evaluation of all examples, in the order of the parts."""
    if not parts:
        raise ValueError("`parts` must hold at least one evaluation, got none.")
    errors = [part.search_errors for part in parts if part.search_errors is not None]
    fates = [part.fates for part in parts if part.fates is not None]
    return Evaluation(
        torch.cat([part.costs for part in parts]),
        torch.cat([part.regrets for part in parts]),
        torch.cat([part.increases for part in parts]),
        torch.cat(errors) if len(errors) == len(parts) else None,
        steps_at=_add_counts([part.steps_at for part in parts]),
        increases_at=_add_counts([part.increases_at for part in parts]),
        fates=merge_fates(fates) if len(fates) == len(parts) else None,
    )


def _add_counts(counts: Sequence[Tensor]) -> Int[Tensor, " steps"]:
    """Add up counts per step; shorter ones go on with zeros."""
    columns = zip_longest(*(count.tolist() for count in counts), fillvalue=0)
    return torch.tensor([sum(column) for column in columns], dtype=torch.long)


def numbered_increases(
    path: Trajectory,
) -> Iterator[tuple[Int[Tensor, " batch"], Bool[Tensor, " batch"]]]:
    """The number of each transition in its example, from 0, and whether the cost rose there."""
    done, moving = torch.zeros_like(path.steps), path.steps > 0
    for transition in path.transitions:
        moved = moving[transition.step.examples]
        examples = transition.step.examples[moved]
        yield done[examples], transition.increased[moved]
        done = done.index_add(0, examples, torch.ones_like(examples))
