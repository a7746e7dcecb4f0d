"""Trajectories: the beams that were visited, and the losses along them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..check import check_choice, check_example
from ..losses import AnyLoss, check_losses, check_needs, name_of
from ..plural import counted
from ..search.beam import Beam, advance, effective_width, expand, initial_beam, scored
from ..search.check_tensors import NotFiniteError
from ..search.history import History, Recorder, transition_row
from ..search.neighbors import Neighbors
from ..search.oracle import Oracle
from ..search.perturbation import PerturbedNeighbors
from ..search.scorer import ParallelScorer, Scorer
from ..search.space import Expansion, Finish, SearchSpace
from ..search.trace import Trace
from ..search.visits import Visits, visits_of
from .not_finite import bad_neighbor
from .transition import Transition, learned_transition

if TYPE_CHECKING:
    from ..reports.search_drawing import Drawing


Reduction = Literal["sum", "mean", "max"]
"""How the losses along a trajectory become one number."""


@dataclass(frozen=True, repr=False)
class Trajectory:
    """b_1, ..., b_h of each example; it can be drawn, stored and scored again."""

    space: SearchSpace[Any]
    oracle: Oracle
    width: int
    finish: Finish
    transitions: Sequence[Transition]
    final_width: int = 1
    """How many outputs b_h may hold."""

    def __len__(self) -> int:
        return len(self.space)

    def __repr__(self) -> str:
        steps, increases = len(self.transitions), int(self.increases.sum())
        return (
            f"<Trajectory: {counted(len(self), 'example')}, up to {counted(steps, 'transition')}, "
            f"width {self.width}, mean cost {float(self.final_costs.mean()):.4g}, "
            f"{counted(increases, 'cost increase')}>"
        )

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
        """The number of transitions of each example where the learned policy raises the cost."""
        return self._per_example(lambda t: t.increased.long())

    @cached_property
    def steps(self) -> Int[Tensor, " batch"]:
        """The number of transitions of each example; 0 if its initial node is terminal."""
        steps = self._per_example(lambda t: torch.ones_like(t.step.examples))
        if not self.transitions:
            return steps
        return steps - self.transitions[0].step.stays[:, 0].long()

    @cached_property
    def final_costs(self) -> Float[Tensor, " batch"]:
        """c*(b_h), the cost of the output (or, after a stop, of the best it can still become)."""
        return self._per_example(lambda t: torch.where(t.step.ended, t.next_cost(), 0.0))

    @cached_property
    def final_scores(self) -> Float[Tensor, " batch"]:
        """The score of the first node of b_h."""
        return self._per_example(lambda t: torch.where(t.step.ended, t.step.scores[:, 0], 0.0))

    def losses(self, loss: AnyLoss, reduction: Reduction = "sum") -> Float[Tensor, " batch"]:
        """Compute `loss` at b_1, ..., b_{h-1}: the sum over each trajectory, its mean or maximum.

        Algorithm 2, line 7:  l(theta, b_1) + ... + l(theta, b_{h-1})

        A loss that is `final` is incurred only at b_{h-1}, over the terminal neighbors there,
        at the full width. One that is `sampled` is also told how likely each of these was drawn.
        """
        check_choice(reduction, get_args(Reduction), "reduction")
        check_needs(loss, self.oracle.full)
        if getattr(loss, "sampled", False) and self.finish != "pad":
            raise _not_sampled(loss)
        if getattr(loss, "final", False):
            parts = [
                _incur_last(t, loss, self.width) for t in self.transitions if t.step.some_ended
            ]
        else:
            parts = [_incur(group, loss) for group in self._groups()]
        if not parts:
            return torch.zeros(len(self))
        steps, examples, values = (torch.cat(field) for field in zip(*parts, strict=True))
        order = steps.argsort(stable=True)  # sums are rounded the same in any batch
        return reduced(values[order], examples[order], len(self), reduction)

    def replay(self, scorer: Scorer) -> "Trajectory":
        """Score the same beams with `scorer`: the trajectory as data, under other parameters.

        A parallel scorer scores all of them in one pass. `increased` is then about the new
        scorer; `on_policy` stays that of the scorer that collected the trajectory.
        """
        beam = initial_beam(self.space, scorer)
        if isinstance(scorer, ParallelScorer):
            found = self.rescored(scorer, scorer.replay(beam.memory, self.visits))
            return replace(found, transitions=[*map(self._with_policy_updated, found.transitions)])
        transitions: list[Transition] = []
        for transition in self.transitions:
            if transition.final:
                transitions.append(transition.rescored_after(transitions[-1]))
                continue
            rescored = transition.rescored(expand(self.space, scorer, beam))
            transitions.append(rescored)
            beam, _ = advance(self.space, scorer, beam, rescored.step)
        return replace(self, transitions=[*map(self._with_policy_updated, transitions)])

    def rescored(
        self, scorer: Scorer, numbers: Iterable[Float[Tensor, "batch k a"]]
    ) -> "Trajectory":
        """The same beams with the numbers that `scorer` gave to the neighbors of each.

        `increased` and `on_policy` stay those of the scorer that collected the trajectory.
        """
        transitions: list[Transition] = []
        scores, depth, given = self.oracle.initial().new_zeros(len(self), 1), 0, iter(numbers)
        for transition in self.transitions:
            if transition.final:
                transitions.append(transition.rescored_after(transitions[-1]))
                continue
            known = transition.neighbors
            expansion = Expansion(known.actions, known.terminal, known.legal, known.ending)
            examples, kept = transition.step.examples, known.kept
            beam = Beam(examples, None, None, scores, kept, known.finished, depth)
            rescored = transition.rescored(scored(scorer, beam, expansion, next(given)))
            transitions.append(rescored)
            depth += 1
            scores = rescored.step.move.keep(rescored.step.scores)
        return replace(self, transitions=transitions)

    def _with_policy_updated(self, transition: Transition) -> Transition:
        """Recompute what the learned policy does, from the current scores of the neighbors."""
        neighbors = transition.neighbors
        _, increased = learned_transition(
            neighbors, self.width, self.finish, self.oracle.tolerance, self.final_width
        )
        width = effective_width(neighbors, self.width, self.finish, self.final_width)
        return replace(transition, width=width, increased=increased)

    @cached_property
    def visits(self) -> Visits:
        """The nodes that were extended, as trees."""
        moves = [transition.step.move for transition in self.transitions if not transition.final]
        return visits_of(len(self), moves[:-1])

    def bad_number(self) -> NotFiniteError | None:
        """The error for the first score or cost that is not finite, if there is one."""
        return bad_neighbor(self.transitions)

    def history(self, example: int = 0) -> History:
        """The search of one example in plain values, for tables and pictures."""
        check_example(example, len(self))
        recorder = Recorder(self.space, example, float(self.oracle.initial()[example]))
        if not self.trace.rows[example]:
            return recorder.history()  # the initial node is terminal
        for t in self.transitions:
            for row in (t.step.examples == example).nonzero()[:, 0].tolist():
                if bool(t.increased[row]):
                    recorder.add_dropped(
                        t.neighbors,
                        row,
                        self.width,
                        self.finish,
                        self.oracle.tolerance,
                        self.final_width,
                    )
                recorder.add(*transition_row(t.step, t.neighbors, row, self.width, self.finish))
        return recorder.history()

    def draw(self, example: int = 0) -> "Drawing":
        """The search of one example as a picture; a notebook shows it."""
        from ..reports.search_drawing import Drawing  # only needed for drawing

        return Drawing(self.history(example))

    def detach(self) -> "Trajectory":
        """The same trajectory without the gradient of its scores."""
        return replace(self, transitions=[t.detached() for t in self.transitions])

    def _groups(self) -> Iterator[dict[int, Transition]]:
        """Group transitions with equally many neighbors, by step, up to a bounded size."""
        groups: dict[int, dict[int, Transition]] = {}
        for step, transition in enumerate(self.transitions):
            n = transition.neighbors.local[0].numel()
            group = groups.setdefault(n, {})
            group[step] = transition
            if sum(t.neighbors.local.numel() for t in group.values()) >= ENTRIES_AT_ONCE:
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


def reduced(
    values: Float[Tensor, " n"], examples: Int[Tensor, " n"], batch: int, reduction: Reduction
) -> Float[Tensor, " batch"]:
    """One number for each example, of the losses along its trajectory; they come step by step."""
    total = values.new_zeros(batch)
    if reduction == "max":
        return total.scatter_reduce(0, examples, values, "amax", include_self=False)
    total = total.index_add(0, examples, values)
    if reduction == "sum":
        return total
    return total / torch.bincount(examples, minlength=batch).clamp(min=1)


ENTRIES_AT_ONCE = 1 << 18
"""Losses are computed for many beams at once, up to about this many neighbors."""


def _incur(group: Mapping[int, Transition], loss: AnyLoss) -> tuple[Tensor, Tensor, Tensor]:
    """Step, example and loss of all beams in a group of transitions."""
    neighbors = [t.neighbors for t in group.values()]
    masks = [_comparable(n, loss) for n in neighbors]
    fields = (
        _concatenated([n.unscaled_scores for n in neighbors]),
        _concatenated([n.unmasked_costs for n in neighbors]),
        _concatenated([t.width for t in group.values()]),
        _concatenated_masks(masks, neighbors),
    )
    try:
        value = loss(*fields)
    except ValueError as error:  # a loss that refuses NaN does not know whose it is
        raise bad_neighbor(group.values()) or error from error
    check_losses(value, len(fields[0]), loss)
    examples = [t.step.examples for t in group.values()]
    steps = [torch.full_like(rows, step) for step, rows in zip(group, examples, strict=True)]
    return torch.cat(steps), torch.cat(examples), value


def _comparable(neighbors: Neighbors, loss: AnyLoss) -> Bool[Tensor, "batch n"] | None:
    """Which neighbors a loss compares; None: all.

    One that only asks which is cheapest compares it with all others, also those of unknown cost.
    """
    known = neighbors.known
    if known is None or getattr(loss, "needs", "costs") == "best":
        return None if neighbors.dense else neighbors.mask
    return neighbors.mask & known


def _concatenated_masks(
    masks: list[Tensor | None], neighbors: list[Neighbors]
) -> Bool[Tensor, "rows n"] | None:
    """All masks, unless none is needed."""
    if all(mask is None for mask in masks):
        return None
    pairs = zip(masks, neighbors, strict=True)
    return _concatenated([n.mask if mask is None else mask for mask, n in pairs])


def _concatenated(parts: list[Tensor]) -> Tensor:
    """Concatenate; a single tensor is not copied, as it may be large."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _incur_last(transition: Transition, loss: AnyLoss, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same for the examples that a transition leads to a terminal beam."""
    neighbors, ended = transition.neighbors, transition.step.terminal
    finished = neighbors.mask & neighbors.terminals().flatten(1)
    if neighbors.known is not None:
        finished = finished & neighbors.known
    fields = (neighbors.unmasked_scores, neighbors.unmasked_costs, finished)
    scores, costs, mask = (field[ended] for field in fields)
    examples = transition.step.examples[ended]
    options = {}
    if getattr(loss, "sampled", False):
        options["log_inclusion"] = _perturbed(neighbors, loss).log_inclusion(width)[ended]
    value = loss(scores, costs, width, mask, **options)
    check_losses(value, len(examples), loss)
    return torch.zeros_like(examples), examples, value


def _perturbed(neighbors: Neighbors, loss: AnyLoss) -> PerturbedNeighbors:
    """The noise of sampled neighbors."""
    if neighbors.perturbed is None:
        raise _not_sampled(loss)
    return neighbors.perturbed


def _not_sampled(loss: AnyLoss) -> ValueError:
    return ValueError(
        f"The loss {name_of(loss)!r} needs beams that are sampled until all outputs are finished; "
        'use the strategy `Sample`, and `finish="pad"`.'
    )
