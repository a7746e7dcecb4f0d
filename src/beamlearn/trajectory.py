"""BEAMTRAJECTORY (Algorithm 2): the beams a strategy visits, and the losses along them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .beam import (
    Beam,
    Selection,
    Step,
    advance,
    effective_width,
    expand,
    finish_of,
    initial_beam,
    policy,
    take,
    transition_cost,
)
from .check import check_choice, check_shape, check_steps, check_width
from .losses import AnyLoss, check_needs
from .neighbors import Neighbors
from .oracle import Oracle
from .scorer import Scorer
from .space import Finish, SearchSpace
from .strategies import Proposal, Strategy, as_strategy
from .trace import Trace


@dataclass(frozen=True)
class Transition:
    """One visited beam b_i of every running example, and where the trajectory went from it."""

    neighbors: Neighbors
    """A_{b_i}, with the scores and costs that the loss at b_i is made of."""
    width: Int[Tensor, " batch"]
    """The width of the transition: k, or 1 into a terminal beam."""
    step: Step
    costs: Float[Tensor, "batch k"]
    """c* of the nodes of b_{i+1}; zeros in empty slots."""
    increased: Bool[Tensor, " batch"]
    """Does the learned policy raise the cost here (whether or not it was followed)?"""
    on_policy: Bool[Tensor, " batch"]
    """Would the learned policy alone have led here (see `Trajectory.on_policy`)?"""


@dataclass(frozen=True)
class Trajectory:
    """b_1, ..., b_h of each example. A value: it can be drawn, stored and scored again."""

    space: SearchSpace[Any]
    oracle: Oracle
    width: int
    finish: Finish
    transitions: Sequence[Transition]

    def __len__(self) -> int:
        return len(self.space)

    @cached_property
    def trace(self) -> Trace:
        """The transitions as back-pointers."""
        return Trace(self.space, [transition.step for transition in self.transitions])

    @property
    def beams(self) -> list[list[list[Any]]]:
        """The visited beams as outputs so far, each best first."""
        return self.trace.beams

    @cached_property
    def costs(self) -> list[list[list[float]]]:
        """c* of the nodes of the visited beams."""
        costs = [[[cost]] for cost in self.oracle.initial().tolist()]
        for transition in self.transitions:
            step = transition.step
            rows = zip(transition.costs.tolist(), step.kept.tolist(), strict=True)
            for example, (row, kept) in zip(step.examples.tolist(), rows, strict=True):
                if self.trace.rows[example]:
                    costs[example].append([c for c, k in zip(row, kept, strict=True) if k])
        return costs

    @cached_property
    def increased(self) -> list[list[bool]]:
        """Per transition: would the learned policy raise (or did it raise) the cost?"""
        found: list[list[bool]] = [[] for _ in range(len(self))]
        for transition in self.transitions:
            examples = transition.step.examples.tolist()
            for example, value in zip(examples, transition.increased.tolist(), strict=True):
                if self.trace.rows[example]:
                    found[example].append(value)
        return found

    @cached_property
    def on_policy(self) -> Bool[Tensor, " batch"]:
        """Theorem 4's indicator: could b_1, ..., b_{h-1} come from the learned policy alone?

        For stop and reset that is so when the learned policy meets no cost increase before its
        last transition. (Decision 10: the theorem's text says "at least one increase", its
        proof uses "none".) Under interpolation, steps at which oracle and learned policy choose
        the same beam count as the learned policy's. A trajectory that ends where the learned
        policy would go on is not its own.
        """
        return self._per_example(lambda t: (~t.on_policy).long()) == 0

    @cached_property
    def increases(self) -> Int[Tensor, " batch"]:
        """How many transitions of each example the learned policy would fail."""
        return self._per_example(lambda t: t.increased.long())

    @cached_property
    def steps(self) -> Int[Tensor, " batch"]:
        """How many transitions each example has; none if its initial node is terminal."""
        steps = self._per_example(lambda t: torch.ones_like(t.step.examples))
        if not self.transitions:
            return steps
        return steps - self.transitions[0].step.stays[:, 0].long()

    @cached_property
    def final_costs(self) -> Float[Tensor, " batch"]:
        """c*(b_h), the cost of the output (or, after a stop, of the best it can still become)."""
        return self._per_example(lambda t: torch.where(t.step.ended, _beam_minimum(t), 0.0))

    @cached_property
    def final_scores(self) -> Float[Tensor, " batch"]:
        """The score of the first node of b_h."""
        return self._per_example(lambda t: torch.where(t.step.ended, t.step.scores[:, 0], 0.0))

    def losses(
        self, loss: AnyLoss, reduction: Literal["sum", "mean"] = "sum"
    ) -> Float[Tensor, " batch"]:
        """Incur `loss` at b_1, ..., b_{h-1}: the sum over each trajectory, or its mean.

        Algorithm 2, line 7:  l(theta, b_1) + ... + l(theta, b_{h-1})
        """
        check_choice(reduction, ("sum", "mean"), "reduction")
        check_needs(loss, self.oracle.full)
        parts = [_incur(group, loss) for group in self._alike()]
        if not parts:
            return torch.zeros(len(self))
        steps, examples, values = (torch.cat(field) for field in zip(*parts, strict=True))
        order = steps.argsort(stable=True)  # sums are rounded alike in whatever batch
        examples, values = examples[order], values[order]
        total = values.new_zeros(len(self)).index_add(0, examples, values)
        if reduction == "sum":
            return total
        return total / torch.bincount(examples, minlength=len(self))

    def replay(self, scorer: Scorer) -> "Trajectory":
        """Score the same beams with `scorer`: the trajectory as data, under other parameters.

        `increased` is then about the new scorer; `on_policy` stays that of the one which led here.
        """
        beam = initial_beam(self.space, scorer)
        transitions = []
        for transition in self.transitions:
            completion = transition.neighbors.completion
            neighbors = replace(expand(self.space, scorer, beam), completion=completion)
            step = transition.step
            entries = neighbors.look_up(step.slots * neighbors.actions + step.actions)
            step = replace(step, scores=entries.scores.masked_fill(~step.ranked, 0.0))
            learned = policy(neighbors, self.width, self.finish).singleton()
            transitions.append(
                replace(
                    transition,
                    neighbors=neighbors,
                    width=effective_width(neighbors, self.width, self.finish),
                    step=step,
                    increased=transition_cost(neighbors, learned) > self.oracle.tolerance,
                )
            )
            beam, _ = advance(self.space, scorer, beam, step)
        return replace(self, transitions=transitions)

    def detach(self) -> "Trajectory":
        """The same trajectory without the gradient of its scores."""
        return replace(
            self,
            transitions=[
                replace(
                    t,
                    neighbors=replace(
                        t.neighbors,
                        local=t.neighbors.local.detach(),
                        offset=t.neighbors.offset.detach(),
                    ),
                    step=replace(t.step, scores=t.step.scores.detach()),
                )
                for t in self.transitions
            ],
        )

    def _alike(self) -> Iterator[dict[int, Transition]]:
        """Group transitions with equally many neighbors, by step, up to a bounded size."""
        groups: dict[int, dict[int, Transition]] = {}
        for step, transition in enumerate(self.transitions):
            n = transition.neighbors.mask.shape[1]
            group = groups.setdefault(n, {})
            group[step] = transition
            if sum(t.neighbors.mask.numel() for t in group.values()) >= ENTRIES_AT_ONCE:
                yield groups.pop(n)
        yield from groups.values()

    def _per_example(self, value: Callable[[Transition], Tensor]) -> Tensor:
        """Add up a number per transition for each example."""
        total: Tensor | None = None
        for transition in self.transitions:
            part = value(transition)
            if total is None:
                total = part.new_zeros(len(self))
            total = total.index_add(0, transition.step.examples, part)
        return torch.zeros(len(self)) if total is None else total


ENTRIES_AT_ONCE = 1 << 21
"""Losses are computed for many beams at once, but for no more neighbors than about this."""


def _incur(group: Mapping[int, Transition], loss: AnyLoss) -> tuple[Tensor, Tensor, Tensor]:
    """Step, example and loss of all beams in a group of transitions."""
    neighbors = [t.neighbors for t in group.values()]
    value = loss(
        torch.cat([n.scores for n in neighbors]),
        torch.cat([n.costs for n in neighbors]),
        torch.cat([t.width for t in group.values()]),
        torch.cat([n.mask for n in neighbors]),
    )
    examples = [t.step.examples for t in group.values()]
    steps = [torch.full_like(rows, step) for step, rows in zip(group, examples, strict=True)]
    return torch.cat(steps), torch.cat(examples), value


def _beam_minimum(transition: Transition) -> Float[Tensor, " batch"]:
    return transition.costs.masked_fill(~transition.step.kept, torch.inf).amin(dim=-1)


def beam_trajectory(
    space: SearchSpace[Any],
    scorer: Scorer,
    width: int = 8,
    *,
    strategy: Strategy | str | None = None,
    oracle: Oracle | None = None,
    finish: Finish | None = None,
    round: int = 1,
    generator: torch.Generator | None = None,
    max_steps: int | None = None,
) -> Trajectory:
    """Collect the beams that `strategy` visits, with scores and costs of all their neighbors.

    Algorithm 2. `strategy` is one of `beamlearn.strategies` or its name; by default the learned
    policy is followed (continue). Costs come from `oracle`, or from the space's own. The scores
    keep their gradient unless this runs under `torch.no_grad()`. `round` and `generator` are for
    strategies that depend on them, such as `Interpolate`.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace(
    ...     "",
    ...     lambda word: [word + "a", word + "b"] if len(word) < 2 else [],
    ...     cost=lambda path: float(path[-1] != "bb"),
    ... )
    >>> scorer = bl.FunctionScorer(lambda path: -path[-1].count("b"))
    >>> path = bl.beam_trajectory(words, scorer, width=1, strategy=bl.strategies.Reset())
    >>> path.beams[0], path.increased[0]
    ([[('',)], [('', 'b')], [('', 'b', 'bb')]], [True, True])
    """
    width = check_width(width)
    finish = finish_of(space, finish)
    strategy = as_strategy(strategy)
    oracle = space.oracle() if oracle is None else oracle
    beam = initial_beam(space, scorer)
    memory, costs = oracle.start(), oracle.initial()[:, None]
    transitions: list[Transition] = []
    while beam.examples.numel() > 0:
        check_steps(len(transitions), max_steps or space.max_steps)
        neighbors = expand(space, scorer, beam)
        completion = oracle.costs(memory, beam.nodes)
        check_shape(completion, tuple(neighbors.local.shape), "costs", "oracle")
        neighbors = replace(neighbors, completion=_stay(completion, beam, costs))
        learned = policy(neighbors, width, finish).singleton()
        increased = transition_cost(neighbors, learned) > oracle.tolerance
        chosen = strategy.next_beam(
            Proposal(neighbors, learned, increased, width, finish, round, generator)
        )
        step = take(beam, neighbors, chosen)
        after, move = advance(space, scorer, beam, step)
        if after.examples.numel() > 0:
            memory = oracle.advance(memory, after.nodes, move)
        costs = neighbors.costs.gather(-1, chosen.index).masked_fill(~chosen.kept, 0.0)
        transitions.append(
            Transition(
                neighbors,
                effective_width(neighbors, width, finish),
                step,
                costs,
                increased,
                _on_policy(learned, chosen),
            )
        )
        beam, costs = after, move.keep(costs)
    return Trajectory(space, oracle, width, finish, transitions)


def _stay(
    completion: Float[Tensor, "batch k a"], beam: Beam, costs: Float[Tensor, "batch k"]
) -> Float[Tensor, "batch k a"]:
    """Give finished hypotheses, which are their own only neighbor, the cost they have."""
    if not bool(beam.finished.any()):
        return completion
    return torch.where(beam.finished[..., None], costs.to(completion.dtype)[..., None], completion)


def _on_policy(learned: Selection, chosen: Selection) -> Bool[Tensor, " batch"]:
    """Does the transition, as far as b_{h-1} goes, follow the learned policy?"""
    if chosen is learned:
        return torch.ones_like(learned.terminal)
    own = learned.same(chosen) & ~chosen.stopped
    return own | (learned.terminal & (chosen.terminal | chosen.stopped))
