"""The theorems on a run: what its losses prove about the mixture of its iterates."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .batches import batches_of
from .bounds import linear_score_range, trajectory_bound
from .certificate import Certificate, CostCertificate
from .evaluate import incurred
from .evidence import Evidence, NoGuaranteeError, needs_flags, qualified
from .hindsight import Hindsight, OnStep, best_in_hindsight
from .learn import Round
from .mixture import State, parted
from .regret import certify, interpolation_alphas
from .run import Run
from .selection import Selected, select
from .strategies import Continue, Interpolate
from .tasks.experiment import (
    TRAIN,
    first_model,
    put_weights,
    read_data,
    read_experiment,
    read_model,
    training_of,
)
from .tasks.kind import Kind, Model
from .tasks.kinds import kind_of
from .tasks.settings import Experiment
from .training import Training


@dataclass(frozen=True)
class Judged:
    """A run whose losses the theorems speak of."""

    run: Run
    kind: Kind[Any, Any, Any]
    experiment: Experiment
    model: Model
    evidence: Evidence

    @classmethod
    def open(cls, path: str | Path) -> "Judged":
        """Find a run; an error with every reason if the theorems say nothing about it."""
        run = Run.open(path)
        kind = kind_of(run)
        experiment = read_experiment(kind, run)
        model = read_model(kind, run, experiment, "cpu")
        before = experiment.warm_start
        seen = before is not None and Run.open(before).config.get(TRAIN) == run.config.get(TRAIN)
        evidence = qualified(run, experiment.learning, model.scorer, seen)
        return cls(run, kind, experiment, model, evidence)

    def first(self, count: int) -> "Judged":
        """The same run as it was after about so many examples, at the end of a round."""
        rounds = self.evidence.rounds
        last = rounds[min(max(count, 1), len(rounds)) - 1]
        return replace(self, evidence=self.evidence.upto(bisect_right(rounds, last)))

    @cached_property
    def mean(self) -> bool:
        """Are losses averaged along trajectories?"""
        return self.experiment.learning.reduction == "mean"

    def largest(self) -> float:
        """u, from the radius of the weights and what the task says of features and costs."""
        learning, scorer = self.experiment.learning, self.model.scorer
        ranges = self.kind.ranges(self.model)
        if learning.radius is None or ranges is None or scorer.normalize is not None:
            raise NoGuaranteeError(
                f"The losses of the run in {self.run.path} must be bounded, but nothing bounds "
                "them: that takes a linear tagger without --normalize, and --radius with the "
                "optimizer gradient or leader. Give a bound that you know as --upper, or certify "
                "min(loss, U) with --clip U."
            )
        width = learning.final_width
        return trajectory_bound(
            learning.surrogate.__name__.partition("(")[0],
            horizon=self.evidence.horizon,
            score_range=linear_score_range(
                learning.radius, ranges.feature_norm, accumulate=scorer.accumulate
            ),
            cost_range=lambda step: ranges.cost * (step if width > 1 else 1),
            width=width,
            neighbors=ranges.actions * width,
            mean=self.mean,
        )

    def certificate(
        self, upper: float, delta: float = 0.05, *, clip: bool = False, count: int | None = None
    ) -> Certificate:
        """Theorem 3, 4 or Eqs. (30), (31), as the strategy asks; after `count` examples."""
        evidence = self.evidence if count is None else self.evidence.upto(count)
        strategy = self.experiment.learning.collection(1)
        flags, alphas = None, None
        if needs_flags(strategy):
            flags = evidence.on_policy
        elif isinstance(strategy, Interpolate) and evidence.betas is not None:
            alphas = interpolation_alphas(evidence.betas, self.evidence.horizon)
        return certify(
            evidence.losses, upper=upper, delta=delta, on_policy=flags, alphas=alphas, clip=clip
        )

    def cost(self, certificate: Certificate) -> CostCertificate | None:
        """Theorem 2, where the loss bounds the transition cost and every c* is exact."""
        if self.mean or not self.bounds_cost or any(self.evidence.optima):
            return None
        return certificate.cost(0.0)

    @property
    def bounds_cost(self) -> bool:
        """Does the loss bound the cost?"""
        return self.experiment.learning.surrogate.bounds_cost

    def shares(self, delta: float = 0.05) -> Certificate | None:
        """A bound on the expected cost itself, as a share of the most that an output can cost.

        Theorem 3 with that share in place of the loss: it needs trajectories of the learned
        policy alone, and a task that says what a step can cost.
        """
        most = self.kind.ranges(self.model)
        strategy = self.experiment.learning.collection(1)
        if most is None or not isinstance(strategy, Continue):
            return None
        found = zip(self.evidence.costs, self.evidence.steps, strict=True)
        return certify([c / (most.cost * max(n, 1)) for c, n in found], upper=1.0, delta=delta)

    def iterates(self) -> dict[int, State]:
        """The iterates that the run kept, by their rounds."""
        kept = parted(self.run.load_model("mixture"))
        return {number: kept[number] for number in kept if number <= self.evidence.rounds[-1]}

    def training(self, *, trajectories: bool = False) -> Training:
        """The same training before its first round."""
        train, dev = read_data(self.kind, self.experiment)
        model = first_model(self.kind, self.experiment, train, "cpu")
        return training_of(
            self.kind, model, train, dev, self.experiment.learning, trajectories=trajectories
        )

    def hindsight(
        self,
        on_round: Callable[[int, int], None],
        on_step: OnStep | None = None,
    ) -> Hindsight:
        """The best policy on the run's own trajectories, which are collected again."""
        training = self.training(trajectories=True)
        paths = []
        last = self.evidence.rounds[-1]
        for event in training:
            if isinstance(event, Round) and event.trajectory is not None:
                paths.append(event.trajectory)
                on_round(event.number, last)
                if event.number == last:
                    break
        learning = self.experiment.learning
        return best_in_hindsight(
            paths,
            training.scorer,
            learning.surrogate,
            radius=learning.radius,
            reduction=learning.reduction,
            on_step=on_step,
        )

    def batches(self, data: Any) -> list[list[Any]]:
        """Data of the same kind, in batches."""
        return batches_of(self.kind.examples(self.model, data), self.experiment.learning.batch_size)

    def examples_before(self, round: int) -> int:
        """How many examples were learned from when a round began."""
        return bisect_left(self.evidence.rounds, round)

    def later_losses(self) -> Iterator[tuple[int, State, list[float]]]:
        """Each kept iterate, its round, and its losses on all examples from that round on."""
        training = self.training()
        batches = training.batches(0)[: self.evidence.rounds[-1]]
        for number, state in self.iterates().items():
            yield number, state, self.losses_of(state, batches[number - 1 :])

    def losses_of(self, state: State, batches: list[list[Any]]) -> list[float]:
        """The losses of an iterate along its own trajectories."""
        learning = self.experiment.learning
        put_weights(self.model, state, self.run.path)
        return incurred(
            batches,
            self.model,
            self.model.scorer,
            learning.surrogate,
            learning.final_width,
            reduction=learning.reduction,
        ).tolist()

    def select(self, proof: Certificate, on_iterate: Callable[[], None]) -> tuple[int, Selected]:
        """Choose one of the kept iterates, write it as a policy, and bound its loss."""
        rounds, states, losses = [], [], []
        for number, state, later in self.later_losses():
            rounds.append(number)
            states.append(state)
            losses.append(proof.counted(later))
            on_iterate()
        assert proof.delta is not None  # the losses of a run are no expectations
        chosen = select(losses, upper=proof.upper, delta=proof.delta)
        self.run.save_model(states[chosen.index], "selected")
        return rounds[chosen.index], chosen
