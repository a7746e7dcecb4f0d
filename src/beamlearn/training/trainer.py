"""Training: epochs of `learn`, validation and early stopping, with a state that can be saved."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from math import cos, pi
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from ..evaluation.evaluate import Evaluation
from ..evaluation.evaluate_together import evaluate_together
from ..evaluation.metric import Metric
from ..learning.iterates import Average, Reservoir, join_states, split_states
from ..learning.learn import BestOnValidation, Round, Task, learn, minibatches
from ..learning.message import pack, unpack
from ..learning.optimizers import FollowTheLeader, ProjectedGradient, project
from ..learning.ranks import Ranks
from ..learning.seeds import seed_of, seeded_devices
from ..learning.shards import check_shards
from ..search.check_tensors import NotFiniteError
from ..search.scorer import Scorer
from .batches import Batches, similar
from .settings import Learning


@dataclass(frozen=True)
class Validation:
    """What the end of an epoch found on the validation set."""

    epoch: int
    """From 1 on; 0 for the weights of a warm start, before any round."""
    round: int
    evaluation: Evaluation
    loss: float
    """What the best epoch is chosen by: the task's own number, less is better."""
    best: bool
    """Is none better so far? Where the losses are equal, the cost decides."""
    stop: bool
    """Was it the last one, because the epochs or the patience are over?"""
    scores: Mapping[Metric, float] = field(default_factory=dict)
    """Other numbers of the task, such as the F1 of spans."""


DECAYS: dict[str, Callable[[float], float]] = {
    "constant": lambda _: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: 0.5 + 0.5 * cos(pi * done),
}
"""What the learning rate is multiplied with after a share `done` of all rounds, by schedule."""


@dataclass(frozen=True)
class Judgment:
    """What a task says of a validation."""

    loss: float
    """What the best epoch is chosen by; less is better."""
    scores: Mapping[Metric, float] = field(default_factory=dict)
    """Other numbers, to show and to log."""


Judge = Callable[[Evaluation], Judgment]
"""What a task says of the validation of the current weights."""


class DivergedError(ValueError):
    """The numbers of a training are no longer finite."""


class Training:
    """One training of a scorer, from its first round to its last.

    Iterate over it: it yields every `Round` (with its trajectory, if `trajectories` are asked
    for) and, at the end of each epoch, a `Validation`. Between any two of them `state` can be
    saved; a `Training` that is built alike and given that state goes on to the same weights.
    Nothing depends on a random generator's past: the order of each epoch, and dropout and coins
    of each round, are drawn from numbers made of the seed and the position.

    The weights with the lowest validation cost are kept, or those that `judge` prefers. If they are
    `warm`, from another training, the weights before the first round are validated, too.
    """

    def __init__(
        self,
        task: Task,
        scorer: Scorer,
        examples: Sequence[Sized],
        validation: Sequence[Sized],
        settings: Learning,
        *,
        judge: Judge = lambda found: Judgment(found.cost),
        warm: bool = False,
        trajectories: bool = False,
    ) -> None:
        self.task, self.scorer, self.settings = task, scorer, settings
        self.examples, self.judge, self.trajectories = examples, judge, trajectories
        self.validation = similar(validation, settings.batch_size)
        self.rounds_per_epoch = -(-len(examples) // settings.batch_size)
        self.rounds = self.rounds_per_epoch * settings.epochs
        self.optimizer = optimizer_of(settings, scorer)
        self.scheduler = self._scheduler()
        self.frozen = {name for name, p in scorer.named_parameters() if not p.requires_grad}
        self.best = BestOnValidation(scorer)
        self.reservoir = Reservoir(settings.mixture, settings.seed) if settings.mixture else None
        self.average = Average() if settings.average else None
        self.round = 0
        """How many rounds are done."""
        self.validated = -1 if warm else 0
        """The last epoch that was validated; -1 until those of a warm start are."""
        self.stopped = False
        self.ranks = Ranks()
        """The processes that share this training; see `join`."""

    def join(self, group: "dist.ProcessGroup | None") -> None:
        """Share rounds and validations with the other processes of a group.

        Each of them has built its training alike. All go on from the state of the first one.
        """
        self.ranks = Ranks(group)
        check_shards(self.settings.shards, self.ranks.count)
        if self.ranks.count == 1:
            return
        first = self.ranks.number == 0
        state = self.ranks.broadcast(pack(*self.state()) if first else b"")
        if not first:
            self.restore(*unpack(state))

    def __iter__(self) -> Iterator[Round | Validation]:
        events = self._events()
        kind, devices = seeded_devices(self.scorer)
        while True:
            # The caller's random numbers stay their own.
            with torch.random.fork_rng(devices, device_type=kind):
                event = next(events, None)
            if event is None:
                return
            yield event

    def _events(self) -> Iterator[Round | Validation]:
        try:
            while not self.stopped:
                if self.round < (self.validated + 1) * self.rounds_per_epoch:
                    yield from self._epoch()
                self.validated += 1
                yield self._validate()
        except NotFiniteError as error:
            clip = " or `clip`" if self.settings.optimizer == "adam" else ""
            raise DivergedError(
                f"Training diverged after round {self.round}: {error.found}; start again with a "
                f"smaller `learning_rate`{clip}."
            ) from error

    def _epoch(self) -> Iterator[Round]:
        """The rounds of the current epoch that are not done yet."""
        self.scorer.train()
        coins = torch.Generator()
        done = self.round - self.validated * self.rounds_per_epoch
        batches = self.batches(self.validated)[done:]
        rounds = learn(
            batches,
            self.task,
            self.scorer,
            self.optimizer,
            loss=self.settings.surrogate,
            strategy=self.settings.collection(self.rounds),
            width=self.settings.width_at(self.rounds),
            beam_weight=self.settings.weight_at(self.rounds),
            final_width=self.settings.final_width,
            oracle=self.settings.rollouts,
            reduction=self.settings.reduction,
            clip=self.settings.clip if self.settings.optimizer == "adam" else None,
            scheduler=self.scheduler,
            generator=coins,
            first_round=self.round + 1,
            trajectories=self.trajectories,
            shards=self.settings.shards,
            seed=self.settings.seed,
            group=self.ranks.group,
        )
        for _ in range(len(batches)):
            self.prepare_round(coins)
            round = next(rounds)
            self.round = round.number
            yield round

    def batches(self, epoch: int) -> Batches:
        """What the rounds of an epoch, counted from 0, learn from."""
        order = torch.Generator().manual_seed(seed_of(self.settings.seed, "epoch", epoch))
        size = self.settings.batch_size
        if not self.settings.stream:
            return similar(self.examples, size, order)
        places = list(minibatches(range(len(self.examples)), size, generator=order))
        return Batches(self.examples, places)

    def prepare_round(self, coins: torch.Generator) -> None:
        """What comes before a round: seed dropout and coins, and keep the iterate it begins with.

        It depends on nothing but the number of rounds done, so that the order in which batches
        are fetched does not matter.
        """
        torch.manual_seed(seed_of(self.settings.seed, "dropout", self.round))
        coins.manual_seed(seed_of(self.settings.seed, "coins", self.round))
        if self.reservoir is not None:
            self.reservoir.offer(self.round + 1, self.scorer)
        if self.average is not None:
            self.average.offer(self.scorer)

    def _scheduler(self, round: int = 0) -> LambdaLR | None:
        """What sets the learning rate of Adam, after so many rounds."""
        if self.settings.optimizer != "adam":
            return None
        return LambdaLR(self.optimizer, self._rate, last_epoch=round - 1)

    def _rate(self, round: int) -> float:
        """What the learning rate is multiplied with after so many rounds."""
        decay, restart = DECAYS[self.settings.schedule], self.settings.beam_restart
        if restart is None:
            return decay(round / self.rounds)
        border = self.settings.likelihood_share * self.rounds
        if round < border:
            return decay(round / border)
        return restart * decay((round - border) / (self.rounds - border))

    def _validate(self) -> Validation:
        settings = self.settings
        self.ranks.check_weights(self.scorer)
        found = evaluate_together(
            self.validation,
            self.task,
            self.scorer,
            settings.decoding_width,
            final_width=settings.final_width,
            ranks=self.ranks,
        )
        with self.ranks.agreeing():
            judged = self.judge(found)
        loss = judged.loss if settings.final_width == 1 else found.cost
        best = self.best.offer(loss, found.cost)
        patience = self.settings.patience or self.settings.epochs
        tired = self.best.since_best >= patience
        self.stopped = tired or self.validated == self.settings.epochs
        return Validation(
            self.validated, self.round, found, loss, best, self.stopped, judged.scores
        )

    @property
    def seen(self) -> int:
        """The number of examples in all rounds so far, about."""
        return self.round * self.settings.batch_size

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the rest of the training depends on: tensors, and facts for JSON."""
        tensors = {f"model.{name}": value for name, value in self.scorer.state_dict().items()}
        for name, value in (self.best.state or {}).items():
            if name not in self.frozen:  # they may be large, and are the same
                tensors[f"best.{name}"] = value
        moments = self.optimizer.state_dict()["state"]
        tensors |= {f"optimizer.{name}": value for name, value in join_states(moments).items()}
        kept = {} if self.reservoir is None else self.reservoir.iterates
        tensors |= {f"iterate.{name}": value for name, value in join_states(kept).items()}
        if self.average is not None:
            tensors |= {f"average.{name}": value for name, value in self.average.state.items()}
        facts = {
            "iterates": list(kept),
            "round": self.round,
            "validated": self.validated,
            "stopped": self.stopped,
            "best_costs": list(self.best.costs) if self.best.state else None,
            "since_best": self.best.since_best,
        }
        return {name: value.detach().clone() for name, value in tensors.items()}, facts

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Go back to a saved state; a ValueError if it is not one of a training built alike."""
        round, validated = facts["round"], facts["validated"]
        begun = round - max(0, validated) * self.rounds_per_epoch
        if validated > self.settings.epochs or not 0 <= begun <= self.rounds_per_epoch:
            raise ValueError(
                "A state must be of a training with the same settings and examples, got round "
                f"{round} after {validated} validations, which this one never passes."
            )
        groups: dict[str, dict[str, Tensor]] = {name: {} for name in GROUPS}
        for name, value in tensors.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = value
        self.scorer.load_state_dict(groups["model"])
        moments = split_states(_copied(groups["optimizer"]))
        if self.reservoir is not None:
            iterates = split_states(groups["iterate"])
            self.reservoir.iterates = {number: iterates[number] for number in facts["iterates"]}
        if self.average is not None:
            self.average.count, self.average.state = round, _copied(groups["average"])
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict({**state, "state": moments})
        self.scheduler = self._scheduler(round)
        self.round, self.validated, self.stopped = round, validated, facts["stopped"]
        self.best = BestOnValidation(self.scorer)
        if groups["best"]:
            frozen = {name: groups["model"][name] for name in self.frozen}
            self.best.recall(frozen | groups["best"], facts["best_costs"], facts["since_best"])


Watcher = Callable[[Training, Round | Validation], None]
"""Called after every round and every validation."""


def fit(training: Training, *watchers: Watcher) -> None:
    """Train to the end, and leave the scorer with the best parameters, in evaluation mode."""
    for event in training:
        for watch in watchers:
            watch(training, event)
    training.best.restore()
    training.scorer.eval()


GROUPS = ("model", "best", "optimizer", "iterate", "average")
"""What the name of a tensor in a state begins with."""


def _copied(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """In memory of their own, as they will be updated in place."""
    return {name: value.clone() for name, value in tensors.items()}


def optimizer_of(settings: Learning, scorer: Scorer) -> torch.optim.Optimizer:
    """The optimizer that is chosen, for all weights that are to be learned."""
    learned = [p for p in scorer.parameters() if p.requires_grad]
    if settings.optimizer == "adam":
        return torch.optim.Adam(learned, lr=settings.first_rate, fused=True)
    if settings.radius is not None:
        project(learned, settings.radius)
    online = ProjectedGradient if settings.optimizer == "gradient" else FollowTheLeader
    return online(learned, lr=settings.first_rate, radius=settings.radius)
