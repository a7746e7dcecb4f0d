"""Populations small enough to take every expectation exactly, and runs that learn on them.

A tag depends on the tag before it, but nothing tells the first one. Who guesses that wrong and
goes on is wrong at every word; who is put back on the right way has little left to learn. So
what a strategy collects may be far from what the learned policy meets.

Hundreds of runs, each with weights, examples and coins of its own, are the rows of one batch,
which do not see each other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from typing import final

import torch
from torch import Tensor, nn

import beamlearn as bl
from beamlearn.evaluation.evaluate import on_policy_losses
from beamlearn.learning.optimizers import ProjectedGradient
from beamlearn.strategies import Reset, Stop, Strategy
from beamlearn.tasks.tagging.space import UNSEEN, TaggingExample, TaggingPosition, TaggingSpace
from beamlearn.theory.certificate import Certificate, certify, interpolation_alphas
from beamlearn.theory.loss_bounds import linear_score_range, trajectory_bound

WORDS, TAGS = "xy", "abcde"
SENTENCES = (
    ("xxxxxx", "abcdea"),
    ("xxxxx", "bcdea"),
    ("xxxxxx", "cdeabc"),
    ("xxxx", "deab"),
    ("xxxxx", "eabcd"),
    ("xxyxx", "abdea"),
    ("xyxxxx", "cadeab"),
    ("xxxyx", "dea?b"),
)
"""Words and right tags; no action stands for the tag "?"."""
POPULATIONS = {
    "even": torch.full((8,), 1 / 8, dtype=torch.float64),
    "skewed": torch.tensor([50, 3, 3, 3, 3, 32, 3, 3], dtype=torch.float64) / 100,
}
"""How probable each sentence is; skewed, most of them begin with the same tag."""
HORIZON = 1 + max(len(words) for words, _ in SENTENCES)
"""The most beams of a trajectory."""
RADIUS = 3.0
"""All weights are in this ball."""
LR = 0.5
LOSS = bl.losses.upper_bound


def largest_loss(width: int) -> float:
    """What no loss of a trajectory can exceed, whatever the weights in the ball."""
    return trajectory_bound(
        LOSS.__name__,
        horizon=HORIZON,
        score_range=linear_score_range(RADIUS, sqrt(2), accumulate=True),
        cost_range=float,  # i tags are wrong at most
        width=width,
        neighbors=width * len(TAGS),
    )


@cache
def encode(run: int, number: int) -> TaggingExample:
    """A sentence as a run sees it."""
    words, tags = SENTENCES[number]
    features = [[run, WORDS.index(word)] for word in words]
    gold = [TAGS.index(tag) if tag in TAGS else UNSEEN for tag in tags]
    return TaggingExample(torch.tensor(features), torch.tensor(gold))


def space_of(cases: Iterable[tuple[int, int]]) -> TaggingSpace:
    """The search space of pairs of a run and a sentence."""
    return TaggingSpace([encode(run, number) for run, number in cases], len(TAGS))


def everything(runs: int) -> TaggingSpace:
    """All sentences for each run."""
    return space_of((run, number) for run in range(runs) for number in range(len(SENTENCES)))


@final
class Tagging:
    """The task, whose batches are spaces already."""

    def space(self, batch: TaggingSpace) -> TaggingSpace:
        return batch


@dataclass(frozen=True)
class Memory:
    """Run and word at each place of each example, and the last tag of each hypothesis."""

    features: Tensor
    last: Tensor


@final
class Policies(bl.Scorer):
    """A linear policy for each run; if there is only one, it is that of all runs.

    s(tag) = theta . phi,  phi = 1 for (word, tag) and for (last tag, tag),  |phi| = sqrt(2)
    """

    linear = True

    def __init__(self, runs: int) -> None:
        super().__init__()
        contexts = len(WORDS) + len(TAGS) + 1  # the last one is that of no tag
        self.theta = nn.Parameter(torch.zeros(runs, contexts, len(TAGS), dtype=torch.float64))

    def start(self, space: TaggingSpace) -> Memory:
        return Memory(space.features, torch.full((len(space), 1), len(TAGS)))

    def score(self, memory: Memory, nodes: TaggingPosition) -> Tensor:
        run, word = memory.features[nodes.examples, nodes.word][:, None].unbind(dim=-1)
        run = run % len(self.theta)
        return self.theta[run, word] + self.theta[run, len(WORDS) + memory.last]

    def advance(self, memory: Memory, nodes: TaggingPosition, move: bl.Move) -> Memory:
        return Memory(memory.features, move.actions)


@final
class Separately(torch.optim.Optimizer):
    """An optimizer for the weights of each run, as if there were no other.

    `learn` averages over a batch that has one example of each run; that is undone.
    """

    def __init__(
        self, theta: nn.Parameter, optimizer: Callable[[nn.Parameter], torch.optim.Optimizer]
    ) -> None:
        super().__init__([theta], {})
        self.theta = theta
        self.parts = [nn.Parameter(part) for part in theta.detach()]
        self.optimizers = [optimizer(part) for part in self.parts]

    def step(self, closure: object = None) -> None:  # type: ignore[override]  # takes no closure
        assert self.theta.grad is not None
        gradients = self.theta.grad * len(self.parts)
        for part, gradient, optimizer in zip(self.parts, gradients, self.optimizers, strict=True):
            part.grad = gradient
            optimizer.step()


@dataclass(frozen=True)
class Runs:
    """What many runs recorded with one strategy, and what is true of them."""

    strategy: Strategy
    probabilities: Tensor
    """Of the sentences."""
    sentences: Tensor
    """Which one each round of each run drew."""
    losses: Tensor
    """Of each round and run, before the update."""
    on_policy: Tensor
    """Theorem 4's indicator, likewise."""
    betas: list[float]
    """Of each round, where the strategy interpolates; else none."""
    iterates: Tensor
    """theta_t of each round and run."""
    expected: Tensor
    """Of each round, run and sentence the loss of theta_t along its own beams."""

    def truth(self, upper: float = inf) -> Tensor:
        """For each run, the expected min(loss, upper) of the mixture of its iterates."""
        return (self.expected.clamp(max=upper) @ self.probabilities).mean(dim=0)

    def certificates(self, upper: float, delta: float, *, clip: bool = False) -> list[Certificate]:
        """What is certified for each run."""
        alphas = interpolation_alphas(self.betas, HORIZON) if self.betas else None
        watched = isinstance(self.strategy, Stop | Reset)
        return [
            certify(
                losses,
                upper=upper,
                delta=delta,
                on_policy=on_policy if watched else None,
                alphas=alphas,
                clip=clip,
            )
            for losses, on_policy in zip(self.losses.T, self.on_policy.T, strict=True)
        ]


def learn(
    strategy: Strategy,
    *,
    rounds: int,
    runs: int,
    width: int,
    probabilities: Tensor = POPULATIONS["even"],
    seed: int = 0,
) -> Runs:
    """Learn from independent draws of the population, one for each round and run."""
    generator = torch.Generator().manual_seed(seed)
    scorer = Policies(runs)
    iterates: list[Tensor] = []
    drawn: list[Tensor] = []

    def batches() -> Iterator[TaggingSpace]:
        for _ in range(rounds):
            iterates.append(scorer.theta.detach().clone())
            drawn.append(torch.multinomial(probabilities, runs, True, generator=generator))
            yield space_of(enumerate(drawn[-1].tolist()))

    done = list(
        bl.learn(
            batches(),
            Tagging(),
            scorer,
            Separately(scorer.theta, lambda part: ProjectedGradient([part], LR, RADIUS)),
            loss=LOSS,
            strategy=strategy,
            width=width,
            generator=generator,
        )
    )
    return Runs(
        strategy,
        probabilities,
        torch.stack(drawn),
        torch.stack([round.losses for round in done]),
        torch.stack([round.on_policy for round in done]),
        [round.beta for round in done if round.beta is not None],
        torch.stack(iterates),
        expected_losses(iterates, width),
    )


def expected_losses(iterates: Sequence[Tensor], width: int) -> Tensor:
    """The loss of every iterate along its own beams: of each round, run and sentence."""
    runs = len(iterates[0])
    scorer, space = Policies(runs), everything(runs)
    found = []
    for theta in iterates:
        scorer.load_state_dict({"theta": theta})
        found.append(on_policy_losses([space], Tagging(), scorer, LOSS, width).view(runs, -1))
    return torch.stack(found)
