"""The theorems applied to a run: what its losses prove about the mixture of its iterates."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..learning.iterates import State, split_states
from ..strategies import Continue, Interpolate, Stop
from ..tasks.experiment import read_experiment, read_model
from ..tasks.loading import task_of
from ..tasks.settings import Experiment
from ..tasks.task import Model, TaskSpec
from ..training.run import Run
from ..training.settings import Learning
from .certificate import Certificate, CostCertificate, certify, interpolation_alphas
from .loss_bounds import linear_score_range, trajectory_bound
from .run_losses import CannotCertifyError, LoggedLosses, certifiable_losses


@dataclass(frozen=True)
class RunCertificate:
    """A run that the theorems apply to, and what follows for it."""

    run: Run
    task: TaskSpec[Any, Any, Any]
    experiment: Experiment
    model: Model
    logged: LoggedLosses
    horizon: int
    """h of the longest trajectory of the whole run."""

    @classmethod
    def open(cls, path: str | Path) -> "RunCertificate":
        """Open a run; an error with every reason if the theorems do not apply to it."""
        run = Run.open(path)
        task = task_of(run)
        experiment = read_experiment(task, run)
        model = read_model(task, run, experiment, "cpu")
        logged = certifiable_losses(run, experiment.learning, model.scorer, experiment.warm)
        return cls(run, task, experiment, model, logged, logged.horizon)

    def first(self, count: int) -> "RunCertificate":
        """The same run as it was after about `count` examples, at the end of a round."""
        rounds = self.logged.rounds
        last = rounds[min(max(count, 1), len(rounds)) - 1]
        return replace(self, logged=self.logged.upto(bisect_right(rounds, last)))

    @property
    def learning(self) -> Learning:
        """The settings that it was trained with."""
        return self.experiment.learning

    def largest_loss(self) -> float:
        """u, from the radius of the weights and the task's ranges of features and costs."""
        learning, scorer = self.learning, self.model.scorer
        ranges = self.task.ranges(self.model)
        cut = isinstance(learning.collection(1), Stop)
        if learning.radius is None or ranges is None or scorer.normalize is not None or cut:
            raise CannotCertifyError(
                f"The losses of the run in {self.run.path} must be bounded, got a run without a "
                "known bound. A bound follows for a linear tagger without `normalize` and "
                "`constrained`, with `radius` and the optimizer gradient or leader, and a strategy "
                "that goes to the end. Pass a bound that you know as `upper`, or use `clip` to "
                "certify min(loss, clip)."
            )
        width = learning.decoding_width
        return trajectory_bound(
            learning.named_loss.__name__,
            horizon=self.horizon,
            score_range=linear_score_range(
                learning.radius, ranges.feature_norm, accumulate=scorer.accumulate
            ),
            cost_range=lambda step: ranges.cost * (step if width > 1 else 1),
            width=width,
            neighbors=ranges.actions * width,
            mean=learning.reduction == "mean",
        )

    def certificate(
        self, upper: float, delta: float = 0.05, *, clip: bool = False, count: int | None = None
    ) -> Certificate:
        """Theorem 3, 4 or Eqs. (30), (31), depending on the strategy; after `count` examples.

        Eqs. (30) and (31) need the length of the learned policy's trajectories. If that length
        depends on the policy, its own trajectories are counted instead (Theorem 4).
        """
        logged = self.logged if count is None else self.logged.upto(count)
        strategy = self.learning.collection(1)
        flags, alphas = logged.on_policy, None
        if isinstance(strategy, Continue):
            flags = None
        elif isinstance(strategy, Interpolate) and logged.betas and self.task.step_cost:
            flags, alphas = None, interpolation_alphas(logged.betas, max(2, self.horizon))
        return certify(
            logged.losses, upper=upper, delta=delta, on_policy=flags, alphas=alphas, clip=clip
        )

    def cost(self, certificate: Certificate) -> CostCertificate | None:
        """Theorem 2, if the loss bounds the transition cost and each c* is exact."""
        summed = self.learning.combined == "sum" and self.learning.surrogate.bounds_cost
        if not (summed and self.exact) or any(self.logged.optima):
            return None
        return certificate.cost(0.0)

    @property
    def exact(self) -> bool:
        """Does the oracle of the training know the exact completion costs?"""
        sample, estimated = self.task.sample(self.model), self.learning.rollouts is not None
        return sample is not None and not estimated and self.model.space([sample]).oracle().exact

    def share(self, delta: float = 0.05) -> Certificate | None:
        """A bound on the expected cost itself, as a share of the most that an output can cost.

        Theorem 3 with that share instead of the loss. It needs trajectories of the learned policy
        alone, and a task with a known `step_cost`.
        """
        most = self.task.step_cost
        if most is None or not isinstance(self.learning.collection(1), Continue):
            return None
        found = zip(self.logged.costs, self.logged.steps, strict=True)
        return certify([c / (most * max(n, 1)) for c, n in found], upper=1.0, delta=delta)

    @cached_property
    def iterates(self) -> dict[int, State]:
        """The iterates that the run kept, by their rounds."""
        kept = split_states(self.run.load_model("mixture"))
        found = {number: kept[number] for number in kept if number <= self.logged.rounds[-1]}
        if not found:
            raise CannotCertifyError(
                f"None of the iterates kept in {self.run.path} is from the first "
                f"{len(self.logged)} examples; raise `examples`, or keep more with `mixture`."
            )
        return found

    def examples_before(self, round: int) -> int:
        """The number of examples used before a round began."""
        return bisect_left(self.logged.rounds, round)

    def check_round(self, number: int, losses: list[float]) -> None:
        """Raise an error if a repeated round does not find the losses that it logged."""
        place = self.examples_before(number)
        logged = self.logged.losses[place : place + len(losses)]
        near = (abs(a - b) <= 1e-3 * max(1.0, abs(b)) for a, b in zip(losses, logged, strict=True))
        if not all(near):
            raise CannotCertifyError(
                f"Round {number} of the run in {self.run.path}, repeated, must give the losses "
                "that were logged, got others; its files were changed, or it was trained on "
                "another device or with another version of torch."
            )
