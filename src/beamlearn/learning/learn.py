"""LEARN (Algorithm 2): the meta-algorithm, as a generator of rounds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ..check import by_name, check_width
from ..losses import AnyLoss, log_loss_neighbors, name_of, with_options
from ..losses.baselines import SURROGATES
from ..plural import counted
from ..search.beam import initial_beam
from ..search.check_tensors import NotFiniteError
from ..search.oracle import Oracle as CompletionCosts
from ..search.scorer import ParallelScorer, Scorer
from ..search.space import Finish, SearchSpace
from ..strategies import Interpolate, Oracle, Strategy, as_strategy
from .collect import beam_trajectory
from .denormals import flush_denormals
from .not_finite import bad_gradient, bad_loss, bad_neighbor
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
    trajectory: Trajectory | None
    """The visited beams, with `trajectories=True`."""
    likelihoods: Float[Tensor, " batch"] | None = None
    """Minus the log-likelihood of each oracle's path, with a `beam_weight`."""
    beam_weight: float | None = None

    def __repr__(self) -> str:
        return (
            f"<Round {self.number}: {counted(len(self.losses), 'example')}, width {self.width}, "
            f"mean loss {float(self.losses.mean()):.4g}, mean cost {float(self.costs.mean()):.4g}, "
            f"gradient norm {self.gradient_norm:.4g}>"
        )


LIKELIHOOD = with_options(log_loss_neighbors, best="all")
"""Along the oracle's path at width 1: minus the log-likelihood of the cheapest actions."""


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
) -> Iterator[Round]:
    """Yield one `Round` per batch, after theta_t has become theta_{t+1}.

    To validate, log, save or stop early, write that in the body of your own
    `for round in learn(...)`.

    With a `beam_weight` w, a round incurs the likelihood of the oracle's path besides:

        -log p(oracle's path) + w * (l(theta, b_1) + ... + l(theta, b_{h-1}))

    Both trajectories share what the scorer computes once per example, such as an encoding.

    `width` and `beam_weight` may be functions of the round (a curriculum). `reduction` adds up or
    averages the losses along a trajectory; over the batch they are averaged. `clip` bounds the
    norm of the gradient; `scheduler` is stepped once a round. `first_round` is for resuming.
    `oracle` takes the place of the spaces' own, such as a `RolloutOracle` for any metric; the
    likelihood is still that of the right path.
    With a `final_width` the policy is one that returns lists: see `beam_trajectory`.
    `replay` says whether gradients go through one parallel pass over the visited nodes (the
    default for a `ParallelScorer`) or through the steps of the search.

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
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    check_width(width_at(first_round))
    for number, batch in enumerate(batches, first_round):
        with flush_denormals(), naming_round(number):
            collect = partial(
                incur,
                scorer=scorer,
                loss=loss,
                strategy=strategy,
                width=width_at(number),
                weight=weight_at(number),
                final_width=final_width,
                reduction=reduction,
                oracle=oracle,
                finish=finish,
                round=number,
                generator=generator,
                replay=replay,
            )
            incurred = collect(task.space(batch))
            optimizer.zero_grad()
            value = differentiate(incurred.total)
            norm = clip_gradient(parameters, clip)
            if not isfinite(value + norm):
                each = [[example] for example in batch] if isinstance(batch, Sequence) else []
                alone = (collect(task.space(example)).total for example in each)
                raise incurred.bad_loss(loss) or bad_gradient(scorer, parameters, alone)
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        beta = strategy.at(number) if isinstance(strategy, Interpolate) else None
        done = incurred.round(number, norm, beta, trajectories=trajectories)
        del incurred  # free this trajectory before the next one is collected
        yield done


@dataclass(frozen=True)
class Incurred:
    """The losses of a round, with their gradient."""

    path: Trajectory
    losses: Float[Tensor, " batch"]
    """Along the path."""
    likelihoods: Float[Tensor, " batch"] | None
    weight: float | None
    """That of the losses, beside likelihoods."""

    @property
    def total(self) -> Float[Tensor, " batch"]:
        """What the update is to lower."""
        if self.likelihoods is None or self.weight is None:
            return self.losses
        return self.likelihoods + self.weight * self.losses if self.weight else self.likelihoods

    def bad_loss(self, loss: AnyLoss) -> NotFiniteError | None:
        """The error for the first loss that is not finite, or for the number that made it so."""
        name = f"the loss {name_of(loss)!r}"
        found = bad_neighbor(self.path.transitions) or bad_loss(self.losses, name)
        if found is not None or self.likelihoods is None:
            return found
        return bad_loss(self.likelihoods, "the likelihood")

    def round(
        self, number: int, gradient_norm: float, beta: float | None, *, trajectories: bool
    ) -> Round:
        """What is known of the round after its update."""
        path = self.path
        return Round(
            number=number,
            losses=self.losses.detach(),
            costs=path.final_costs,
            optima=path.oracle.initial(),
            increases=path.increases,
            on_policy=path.on_policy,
            steps=path.steps,
            width=path.width,
            beta=beta,
            gradient_norm=gradient_norm,
            trajectory=path.detach() if trajectories else None,
            likelihoods=None if self.likelihoods is None else self.likelihoods.detach(),
            beam_weight=self.weight,
        )


def incur(
    space: SearchSpace[Any],
    scorer: Scorer,
    loss: AnyLoss,
    strategy: Strategy,
    width: int,
    *,
    weight: float | None,
    final_width: int,
    reduction: Reduction,
    oracle: CompletionCosts | None,
    **collection: Any,
) -> Incurred:
    """Collect the trajectories of a round and compute their losses.

    Without a `weight` there is one trajectory, that of the strategy; with 0, that of the oracle
    alone, for its likelihood; otherwise both. What the scorer and the oracle compute once per
    example is shared.
    """
    if weight is not None and not weight >= 0:
        raise ValueError(f"`beam_weight` must be at least 0, got {weight}.")
    start, oracle = initial_beam(space, scorer), oracle or space.oracle()
    collect = partial(beam_trajectory, space, scorer, start=start, **collection)
    likelihoods = None
    if weight is not None:
        right = collect(width=1, strategy=Oracle(), oracle=oracle.right_path(space))
        likelihoods = right.losses(LIKELIHOOD, reduction)
        if weight == 0:
            return Incurred(right, likelihoods, likelihoods, weight)
    path = collect(width=width, strategy=strategy, final_width=final_width, oracle=oracle)
    losses = path.losses(loss, strategy.reduction or reduction)
    return Incurred(path, losses, likelihoods, weight)


@contextmanager
def naming_round(number: int) -> Iterator[None]:
    """Let errors about numbers that are not finite say in which round they were found."""
    try:
        yield
    except NotFiniteError as error:
        raise error.in_round(number) from error


def differentiate(losses: Float[Tensor, " batch"]) -> float:
    """Compute the gradient of the mean of the losses; return the mean."""
    check_differentiable(losses)
    mean = losses.mean()
    mean.backward()
    return float(mean.detach())


def check_differentiable(losses: Float[Tensor, " batch"]) -> None:
    """Refuse losses that no update can be computed from."""
    if losses.numel() == 0:
        raise ValueError("Each batch must hold at least one example, got an empty batch.")
    if not losses.requires_grad:
        raise ValueError(
            "`scorer` must compute scores that depend on its parameters, got scores without a "
            "gradient; use parameters that require one, outside `torch.no_grad()`."
        )


def clip_gradient(parameters: Sequence[Tensor], clip: float | None) -> float:
    """The norm of all gradients together, before they are clipped to `clip` if it is given.

    If it is not finite, they stay as they are.
    """
    if clip is not None:
        with suppress(RuntimeError):  # what is not finite is left for the norm below to show
            return float(nn.utils.clip_grad_norm_(parameters, clip, error_if_nonfinite=True))
    norms = [p.grad.norm() for p in parameters if p.grad is not None]
    return float(torch.stack(norms).norm()) if norms else 0.0


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
