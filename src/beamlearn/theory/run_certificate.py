"""The theorems on a run: what its losses prove about the mixture of its iterates."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..learning.iterates import State, split_states
from ..strategies import Continue, Interpolate, Stop
from ..tasks.experiment import read_experiment, read_model
from ..tasks.registry import kind_of
from ..tasks.settings import Experiment
from ..tasks.task import Kind, Model
from ..training.run import Run
from ..training.settings import Learning
from .certificate import Certificate, CostCertificate, certify, interpolation_alphas
from .loss_bounds import linear_score_range, trajectory_bound
from .run_losses import CannotCertifyError, LoggedLosses, certifiable_losses


@dataclass(frozen=True)
class RunCertificate:
    """A run whose losses the theorems speak of."""

    run: Run
    kind: Kind[Any, Any, Any]
    experiment: Experiment
    model: Model
    logged: LoggedLosses
    horizon: int
    """h of the longest trajectory of the whole run."""

    @classmethod
    def open(cls, path: str | Path) -> "RunCertificate":
        """Find a run; an error with every reason if the theorems say nothing about it."""
        run = Run.open(path)
        kind = kind_of(run)
        experiment = read_experiment(kind, run)
        model = read_model(kind, run, experiment, "cpu")
        warm = experiment.warm_start is not None
        logged = certifiable_losses(run, experiment.learning, model.scorer, warm)
        return cls(run, kind, experiment, model, logged, logged.horizon)

    def first(self, count: int) -> "RunCertificate":
        """The same run as it was after about so many examples, at the end of a round."""
        rounds = self.logged.rounds
        last = rounds[min(max(count, 1), len(rounds)) - 1]
        return replace(self, logged=self.logged.upto(bisect_right(rounds, last)))

    @property
    def learning(self) -> Learning:
        """How it was trained."""
        return self.experiment.learning

    def largest_loss(self) -> float:
        """u, from the radius of the weights and what the task says of features and costs."""
        learning, scorer = self.learning, self.model.scorer
        ranges = self.kind.ranges(self.model)
        cut = isinstance(learning.collection(1), Stop)
        if learning.radius is None or ranges is None or scorer.normalize is not None or cut:
            raise CannotCertifyError(
                f"The losses of the run in {self.run.path} must be bounded, but nothing bounds "
                "them: that takes a linear tagger without --normalize and --constrained, --radius "
                "with the optimizer gradient or leader, and a strategy that goes to the end. Give "
                "a bound that you know as --upper, or certify min(loss, U) with --clip U."
            )
        width = learning.final_width
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
        """Theorem 3, 4 or Eqs. (30), (31), as the strategy asks; after `count` examples.

        Eqs. (30) and (31) need to know how long the trajectories of the learned policy are. Where
        that depends on what it does, the trajectories that were its own are counted instead.
        """
        logged = self.logged if count is None else self.logged.upto(count)
        strategy = self.learning.collection(1)
        flags, alphas = logged.on_policy, None
        if isinstance(strategy, Continue):
            flags = None
        elif isinstance(strategy, Interpolate) and logged.betas and self.kind.step_cost:
            flags, alphas = None, interpolation_alphas(logged.betas, max(2, self.horizon))
        return certify(
            logged.losses, upper=upper, delta=delta, on_policy=flags, alphas=alphas, clip=clip
        )

    def cost(self, certificate: Certificate) -> CostCertificate | None:
        """Theorem 2, where the loss bounds the transition cost, and each c* is exact."""
        summed = self.learning.reduction == "sum" and self.kind.step_cost is not None
        if not (summed and self.learning.surrogate.bounds_cost) or any(self.logged.optima):
            return None
        return certificate.cost(0.0)

    def share(self, delta: float = 0.05) -> Certificate | None:
        """A bound on the expected cost itself, as a share of the most that an output can cost.

        Theorem 3 with that share in place of the loss: it needs trajectories of the learned
        policy alone, and a task that says what a step can cost.
        """
        most = self.kind.step_cost
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
                f"None of the kept iterates in {self.run.path} is of the first "
                f"{len(self.logged)} examples; raise --examples, or keep more with --mixture."
            )
        return found

    def examples_before(self, round: int) -> int:
        """How many examples were learned from when a round began."""
        return bisect_left(self.logged.rounds, round)

    def check_round(self, number: int, losses: list[float]) -> None:
        """Refuse to go on if a round that is repeated does not find the losses that it logged."""
        place = self.examples_before(number)
        logged = self.logged.losses[place : place + len(losses)]
        near = (abs(a - b) <= 1e-3 * max(1.0, abs(b)) for a, b in zip(losses, logged, strict=True))
        if not all(near):
            raise CannotCertifyError(
                f"Round {number} of the run in {self.run.path}, done again, must find the losses "
                "that were logged, but it finds others; its files were changed, or it was trained "
                "on another device or version of torch."
            )
