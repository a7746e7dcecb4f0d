"""LEARN (Algorithm 2): the meta-algorithm, as a generator of rounds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
import torch.distributed as dist
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ..check import UsageError, by_name, check_width
from ..losses import AnyLoss
from ..losses.baselines import SURROGATES
from ..plural import counted
from ..search.check_tensors import NotFiniteError
from ..search.oracle import Oracle as CompletionCosts
from ..search.scorer import ParallelScorer, Scorer
from ..search.space import Finish, SearchSpace
from ..strategies import Interpolate, Strategy, as_strategy
from .denormals import flush_denormals
from .gradient import Gradient
from .incurred import Incurred, incur
from .ranks import Ranks
from .shards import Shards
from .shared_gradient import SharedGradient
from .trajectory import Reduction, Trajectory

Example = TypeVar("Example")


@runtime_checkable
class Task(Protocol):
    """What to learn: turns a batch of examples into a search space with its costs."""

    def space(self, batch: Any) -> SearchSpace[Any]:
        """The search space of a batch; its `oracle()` knows the right answers."""
        ...


@dataclass(frozen=True, repr=False)
class Round:
    """One update: the losses and costs before it, on the examples of its batch."""

    number: int
    """t of the paper, from 1 on."""
    losses: Float[Tensor, " batch"]
    """The loss of each trajectory under theta_t."""
    costs: Float[Tensor, " batch"]
    """The cost at the end of each trajectory."""
    optima: Float[Tensor, " batch"]
    """c*(b_1): the cost of the best output of each example."""
    increases: Int[Tensor, " batch"]
    """The number of transitions at which the learned policy would raise (or raised) the cost."""
    on_policy: Bool[Tensor, " batch"]
    """Theorem 4's indicator."""
    steps: Int[Tensor, " batch"]
    """The number of transitions of each trajectory."""
    width: int
    beta: float | None
    """The probability of following the oracle, where the strategy interpolates."""
    gradient_norm: float
    """Before clipping."""
    trajectories: tuple[Trajectory, ...] = ()
    """The visited beams, with `trajectories=True`; one for each shard of this process."""
    likelihoods: Float[Tensor, " batch"] | None = None
    """Minus the log-likelihood of each oracle's path, with a `beam_weight`."""
    beam_weight: float | None = None

    @property
    def trajectory(self) -> Trajectory | None:
        """The visited beams, if they were kept and the batch was not cut into shards."""
        return self.trajectories[0] if len(self.trajectories) == 1 else None

    def __repr__(self) -> str:
        return (
            f"<Round {self.number}: {counted(len(self.losses), 'example')}, width {self.width}, "
            f"mean loss {float(self.losses.mean()):.4g}, mean cost {float(self.costs.mean()):.4g}, "
            f"gradient norm {self.gradient_norm:.4g}>"
        )


def learn(
    batches: Iterable[Any],
    task: Task,
    scorer: Scorer,
    optimizer: torch.optim.Optimizer,
    *,
    loss: AnyLoss | str,
    strategy: Strategy | str | None = None,
    width: int | Callable[[int], int] = 8,
    beam_weight: float | Callable[[int], float] | None = None,
    final_width: int = 1,
    oracle: CompletionCosts | None = None,
    finish: Finish | None = None,
    reduction: Reduction = "sum",
    clip: float | None = None,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    generator: torch.Generator | None = None,
    first_round: int = 1,
    trajectories: bool = False,
    replay: bool | None = None,
    shards: int = 1,
    seed: int = 0,
    group: "dist.ProcessGroup | None" = None,
) -> Iterator[Round]:
    """Yield one `Round` per batch, after theta_t has become theta_{t+1}.

    To validate, log, save or stop early, write that in the body of your own
    `for round in learn(...)`.

    With a `beam_weight` w, a round incurs the likelihood of the oracle's path besides:

        -log p(oracle's path) + w * (l(theta, b_1) + ... + l(theta, b_{h-1}))

    Both trajectories share what the scorer computes once per example, such as an encoding.

    `width` and `beam_weight` may be functions of the round (a curriculum). `reduction` adds up or
    averages the losses along a trajectory; over the batch they are averaged, or, where several
    trajectories belong together, summed and divided by `owners` of the space. `clip` bounds the
    norm of the gradient; `scheduler` is stepped once a round. `first_round` is for resuming.
    `oracle` takes the place of the spaces' own, such as a `RolloutOracle` for any metric; the
    likelihood is still that of the right path.
    With a `final_width` the policy is one that returns lists: see `beam_trajectory`.
    `replay` says whether gradients go through one parallel pass over the visited nodes (the
    default for a `ParallelScorer`) or through the steps of the search.

    With several `shards` S, each batch, a list, is cut into `batch[s::S]` for s = 0, ..., S - 1.
    Dropout and the coins of a shard are drawn from `seed`, the round and s: `generator` is seeded
    for each. Gradients of shards are added up in a fixed tree. `group` is a process group of
    torch.distributed whose size divides S: every process is given the same arguments, computes
    its share of the shards, and comes to the same weights as one process alone, to the last bit.
    Without a group there is no other process, even if torch.distributed is in use.

    A score, cost, loss or gradient that is NaN or infinite ends the training before it reaches the
    weights, with a ValueError that names the round, the example (its place in the batch, from 0
    on) and, for a gradient, the parameter.

    >>> import beamlearn as bl, torch
    >>> def digits(goal):
    ...     more = lambda word: [word + d for d in "01"] if len(word) < 3 else []
    ...     return bl.GraphSpace("", more, cost=lambda path: float(path[-1] != goal))
    >>> task = bl.GraphTask(digits)
    >>> scorer = bl.LinearScorer(lambda path: {path[-1]: 1.0}, size=64)
    >>> optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    >>> rounds = bl.learn([["101"]] * 5, task, scorer, optimizer, loss="upper_bound", width=2)
    >>> [round.costs.tolist() for round in rounds]
    [[1.0], [1.0], [0.0], [0.0], [0.0]]
    """
    loss = by_name(SURROGATES, loss, "loss") if isinstance(loss, str) else loss
    strategy = as_strategy(strategy)
    width_at = width if callable(width) else (lambda _: width)
    weight_at = beam_weight if callable(beam_weight) else (lambda _: beam_weight)
    replay = isinstance(scorer, ParallelScorer) if replay is None else replay
    ranks = Ranks(group)
    cut = Shards(shards, seed, ranks.count, ranks.number)
    shared = SharedGradient(cut, ranks, generator, keep=trajectories)
    check_width(width_at(first_round))
    check_unwrapped(scorer)
    ranks.check_weights(scorer)
    for number, batch in enumerate(batches, first_round):
        with flush_denormals(), naming_round(number):
            weight = weight_at(number)
            collect = partial(
                incur_losses,
                task=task,
                scorer=scorer,
                loss=loss,
                strategy=strategy,
                width=width_at(number),
                weight=weight,
                final_width=final_width,
                reduction=reduction,
                oracle=oracle,
                finish=finish,
                round=number,
                generator=generator,
                replay=replay,
            )
            gradient = Gradient(collect, scorer, optimizer, loss)
            if shards > 1:
                outcome, norm = shared.of(gradient, batch, number, clip)
            else:
                incurred, norm = gradient.of(batch, clip=clip)
                outcome = incurred.outcome(keep=trajectories)
                del incurred  # free this trajectory before the next one is collected
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        yield Round(
            number=number,
            **outcome.columns,
            width=outcome.width,
            beta=strategy.at(number) if isinstance(strategy, Interpolate) else None,
            gradient_norm=norm,
            trajectories=outcome.paths,
            beam_weight=weight,
        )
    ranks.check_over()


def incur_losses(batch: Any, task: Task, **choices: Any) -> Incurred:
    """Collect the trajectories of some examples and compute their losses."""
    return incur(task.space(batch), **choices)


@contextmanager
def naming_round(number: int) -> Iterator[None]:
    """Let errors about numbers that are not finite say in which round they were found."""
    try:
        yield
    except NotFiniteError as error:
        raise error.in_round(number) from error


def check_unwrapped(scorer: nn.Module) -> None:
    """Refuse a scorer in a wrapper that would average gradients behind the back of `learn`."""
    if isinstance(scorer, nn.DataParallel | nn.parallel.DistributedDataParallel):
        raise UsageError(
            f"`scorer` must be a scorer by itself, got one in a {type(scorer).__name__}; pass the "
            "scorer inside, with `shards` and `group`."
        )


def minibatches(
    examples: Sequence[Example],
    size: int = 1,
    *,
    epochs: int = 1,
    generator: torch.Generator | None = None,
) -> Iterator[list[Example]]:
    """Cut the examples into batches; with a generator, in a new random order each epoch.

    >>> list(minibatches("abcde", size=2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    if size < 1:
        raise ValueError(f"`size` of a batch must be at least 1, got {size}.")
    for _ in range(epochs):
        order = list(range(len(examples)))
        if generator is not None:
            device = generator.device
            order = torch.randperm(len(examples), generator=generator, device=device).tolist()
        for start in range(0, len(order), size):
            yield [examples[i] for i in order[start : start + size]]


class BestOnValidation:
    """Remember the parameters with the lowest validation cost: the last line of LEARN.

    Of equally good ones the last are kept, as they have learned the longest.

    >>> import torch
    >>> model = torch.nn.Linear(1, 1)
    >>> best = BestOnValidation(model)
    >>> best.offer(0.5), best.offer(0.7), best.cost
    (True, False, 0.5)
    >>> best.restore()

    Several costs are compared one after another: the second decides where the first are equal.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.costs: tuple[float, ...] = (float("inf"),)
        self.since_best = 0
        """The number of offers since the cost was last lowered, for early stopping."""
        self.state: dict[str, Tensor] | None = None
        """The best parameters."""

    @property
    def cost(self) -> float:
        """The lowest validation cost."""
        return self.costs[0]

    def offer(self, *costs: float) -> bool:
        """Record the validation cost of the current parameters; True if none was lower."""
        self.since_best = 0 if costs < self.costs else self.since_best + 1
        best = costs <= self.costs
        if best:
            self.costs, self.state = costs, deepcopy(self.model.state_dict())
        return best

    def restore(self) -> None:
        """Put the best parameters back into the model."""
        if self.state is None:
            raise ValueError(
                "No parameters to restore; call `offer` with a finite validation cost first."
            )
        self.model.load_state_dict(self.state)

    def recall(self, state: Mapping[str, Tensor], costs: Sequence[float], since_best: int) -> None:
        """Continue from what an earlier one remembered."""
        self.state, self.costs, self.since_best = dict(state), tuple(costs), since_best
