"""Training: epochs of `learn`, validation and early stopping, with a state that can be saved."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from hashlib import blake2b
from math import cos, isfinite, pi
from typing import Any

import torch
from torch import Tensor

from .batches import batches_of
from .check import NotFiniteError
from .evaluate import Evaluation, evaluate
from .learn import BestOnValidation, Round, Task, learn
from .scorer import Scorer
from .settings import Learning


@dataclass(frozen=True)
class Validation:
    """What the end of an epoch found on the validation set."""

    epoch: int
    """From 1 on."""
    round: int
    evaluation: Evaluation
    best: bool
    """Is it the lowest cost so far?"""
    stop: bool
    """Was it the last one, because the epochs or the patience are over?"""


def decay(schedule: str, done: float) -> float:
    """What the learning rate is multiplied with after a share `done` of all rounds."""
    factors: dict[str, Callable[[float], float]] = {
        "constant": lambda _: 1.0,
        "linear": lambda x: 1.0 - x,
        "cosine": lambda x: 0.5 + 0.5 * cos(pi * x),
    }
    return factors[schedule](done)


class Training:
    """One training of a scorer, from its first round to its last.

    Iterate over it: it yields every `Round` and, at the end of each epoch, a `Validation`.
    Between any two of them `state` can be saved; a `Training` that is built alike and given
    that state goes on to the same weights. Nothing depends on a random generator's past: the
    order of each epoch, and dropout and coins of each round, are drawn from numbers made of the
    seed and the position.
    """

    def __init__(
        self,
        task: Task,
        scorer: Scorer,
        examples: Sequence[Sized],
        validation: Sequence[Sized],
        settings: Learning,
    ) -> None:
        self.task, self.scorer, self.settings = task, scorer, settings
        self.examples = examples
        self.validation = batches_of(validation, settings.batch_size)
        self.rounds_per_epoch = -(-len(examples) // settings.batch_size)
        self.rounds = self.rounds_per_epoch * settings.epochs
        self.optimizer = torch.optim.Adam(
            [p for p in scorer.parameters() if p.requires_grad],
            lr=settings.learning_rate,
            fused=True,
        )
        self.frozen = {name for name, p in scorer.named_parameters() if not p.requires_grad}
        self.best = BestOnValidation(scorer)
        self.round = 0
        """How many rounds are done."""
        self.validated = 0
        """How many epochs were validated."""
        self.stopped = False

    def __iter__(self) -> Iterator[Round | Validation]:
        events = self._events()
        while True:
            with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay their own
                event = next(events, None)
            if event is None:
                return
            yield event

    def _events(self) -> Iterator[Round | Validation]:
        try:
            while not self.stopped:
                if self.round < (self.validated + 1) * self.rounds_per_epoch:
                    yield from self._epoch()
                yield self._validate()
        except NotFiniteError as error:
            raise NotFiniteError(
                f"Training diverged after round {self.round}: its numbers are no longer finite; "
                "train anew with a smaller learning rate or clip."
            ) from error

    def _epoch(self) -> Iterator[Round]:
        """The rounds of the current epoch that are not done yet."""
        self.scorer.train()
        coins = torch.Generator()
        for round in learn(
            self._batches(coins),
            self.task,
            self.scorer,
            self.optimizer,
            loss=self.settings.surrogate,
            strategy=self.settings.collection(self.rounds),
            width=self.settings.width_at(self.rounds),
            clip=self.settings.clip,
            generator=coins,
            first_round=self.round + 1,
        ):
            self.round = round.number
            if not isfinite(round.gradient_norm + float(round.losses.sum())):
                raise NotFiniteError("The loss or its gradient is not finite.")
            yield round

    def _batches(self, coins: torch.Generator) -> Iterator[list[Any]]:
        """The batches of the current epoch that are left; each sets the scene for its round."""
        settings = self.settings
        order = torch.Generator().manual_seed(seed_of(settings.seed, "epoch", self.validated))
        batches = batches_of(self.examples, settings.batch_size, order)
        for batch in batches[self.round - self.validated * self.rounds_per_epoch :]:
            torch.manual_seed(seed_of(settings.seed, "dropout", self.round))
            coins.manual_seed(seed_of(settings.seed, "coins", self.round))
            rate = settings.learning_rate * decay(settings.schedule, self.round / self.rounds)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            yield batch

    def _validate(self) -> Validation:
        found = evaluate(self.validation, self.task, self.scorer, self.settings.final_width)
        self.validated += 1
        best = self.best.offer(found.cost)
        patience = self.settings.patience or self.settings.epochs
        tired = self.best.since_best >= patience
        self.stopped = tired or self.validated == self.settings.epochs
        return Validation(self.validated, self.round, found, best, self.stopped)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything that the rest of the training depends on: tensors, and facts for JSON."""
        tensors = {f"model.{name}": value for name, value in self.scorer.state_dict().items()}
        for name, value in (self.best.state or {}).items():
            if name not in self.frozen:  # they may be large, and are the same
                tensors[f"best.{name}"] = value
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        cost = self.best.cost if self.best.state else None
        facts = {
            "round": self.round,
            "validated": self.validated,
            "stopped": self.stopped,
            "best_cost": cost,
            "since_best": self.best.since_best,
        }
        return {name: value.detach().clone() for name, value in tensors.items()}, facts

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Go back to a saved state; a ValueError if it is not one of a training built alike."""
        round, validated = facts["round"], facts["validated"]
        begun = round - validated * self.rounds_per_epoch
        if validated > self.settings.epochs or not 0 <= begun <= self.rounds_per_epoch:
            raise ValueError(
                f"A state must be of a training with the same settings and examples, but round "
                f"{round} after {validated} validations is not on the way of this one."
            )
        groups: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
        for name, value in tensors.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = value
        self.scorer.load_state_dict(groups["model"])
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in groups["optimizer"].items():
            number, _, rest = name.partition(".")
            moments.setdefault(int(number), {})[rest] = value.clone()  # updated in place
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict({**state, "state": moments})
        self.round, self.validated, self.stopped = round, validated, facts["stopped"]
        self.best = BestOnValidation(self.scorer)
        if groups["best"]:
            frozen = {name: groups["model"][name] for name in self.frozen}
            self.best.recall(frozen | groups["best"], facts["best_cost"], facts["since_best"])


def seed_of(seed: int, what: str, position: int) -> int:
    """A number for a random generator, made of the seed and what it is for."""
    digest = blake2b(f"{seed}/{what}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
