"""BEAMTRAJECTORY (Algorithm 2): the beams that a strategy visits."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..check import allowed_steps, check_steps, check_width
from ..search.beam import (
    Beam,
    Selection,
    Step,
    advance,
    effective_width,
    expand,
    final_choice,
    finish_of,
    initial_beam,
    settled_beam,
    take,
)
from ..search.beam_search import SearchResult
from ..search.neighbors import Move, Neighbors
from ..search.oracle import Collection, Oracle
from ..search.ranking import least
from ..search.scorer import ParallelScorer, Scorer
from ..search.space import Finish, SearchSpace
from ..strategies import Oracle as FollowOracle
from ..strategies import Proposal, Strategy, as_strategy
from .trajectory import Trajectory
from .transition import Transition, learned_transition


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
    replay: bool = False,
    start: Beam | None = None,
    final_width: int = 1,
) -> Trajectory:
    """Collect the beams that `strategy` visits, with scores and costs of all their neighbors.

    Algorithm 2. `strategy` is one of `beamlearn.strategies` or its name; by default the learned
    policy is followed (continue). Costs come from `oracle`, or from the space's own. The scores
    keep their gradient unless this runs under `torch.no_grad()`. `round` and `generator` are for
    strategies that depend on them, such as `Interpolate` and `Sample`.

    With `replay=True` the trajectory is collected without gradients, and then a `ParallelScorer`
    scores all visited nodes in one pass, with the same dropout. `start` is what `initial_beam`
    found, so that several trajectories of a space share the work of the encoder.

    `final_width` is for people who want a list of outputs: so many are kept at the last
    transition, a list costs what its cheapest output costs, and the loss asks for that one to be
    in the list. By default the last beam holds the best output alone.

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
    finish, width = finish_of(space, finish), check_width(width)
    oracle = space.oracle() if oracle is None else oracle
    beam = initial_beam(space, scorer) if start is None else start
    oracle = oracle.following(Collection(space, scorer, beam, width, generator))
    collector = Collector(
        space,
        oracle,
        width,
        finish,
        as_strategy(strategy),
        round,
        generator,
        allowed_steps(max_steps, space.max_steps),
        check_width(final_width, "final_width", "one output"),
    )
    if not replay:
        return collector.collect(scorer, beam)
    if not isinstance(scorer, ParallelScorer):
        raise TypeError(
            f"`replay=True` needs a ParallelScorer, got {type(scorer).__name__}; leave it out."
        )
    return collector.collect_then_score(scorer, beam)


@dataclass(frozen=True)
class Collector:
    """Collects trajectories: the settings that decide which beams are visited."""

    space: SearchSpace[Any]
    oracle: Oracle
    width: int
    finish: Finish
    strategy: Strategy
    round: int
    generator: torch.Generator | None
    max_steps: int
    final_width: int

    def collect(self, scorer: Scorer, beam: Beam, *, lean: bool = False) -> Trajectory:
        """The loop of Algorithm 2, from initial beams; a lean trajectory drops its scores."""
        transition = self.cheapest_transition if isinstance(scorer, ZeroScorer) else self.transition
        memory, costs = self.oracle.start(), self.oracle.initial()[:, None]
        beam = self.strategy.start(beam, scorer, self.generator)
        transitions: list[Transition] = []
        while beam.examples.numel() > 0:
            check_steps(beam.depth, self.max_steps)
            neighbors = expand(self.space, scorer, beam)
            neighbors = _stay(self.oracle.complete(memory, beam, neighbors), beam, costs)
            here = transition(beam, neighbors)
            transitions.append(here.without_scores() if lean else here)
            settled = settled_beam(here.step)
            if settled is not None:
                completion = here.costs[here.step.settled][..., None]
                last = replace(final_choice(settled, here.neighbors.scale), completion=completion)
                transitions.append(replace(transition(settled, last), final=True))
            beam, move = advance(self.space, scorer, beam, here.step)
            costs = move.keep(here.costs)
            if beam.examples.numel() > 0:
                memory = self.oracle.advance(memory, beam.nodes, move)
        return Trajectory(
            self.space, self.oracle, self.width, self.finish, transitions, self.final_width
        )

    def transition(self, beam: Beam, neighbors: Neighbors) -> Transition:
        """The transition that the strategy takes."""
        learned, increased = learned_transition(
            neighbors, self.width, self.finish, self.oracle.tolerance, self.final_width
        )
        chosen = self.strategy.next_beam(
            Proposal(
                neighbors,
                learned,
                increased,
                self.width,
                self.final_width,
                self.finish,
                self.round,
                self.generator,
            )
        )
        return Transition(
            neighbors,
            effective_width(neighbors, self.width, self.finish, self.final_width),
            take(beam, neighbors, chosen, self.final_width),
            neighbors.unmasked_costs.gather(-1, chosen.index).masked_fill(~chosen.kept, 0.0),
            increased,
            _on_policy(learned, chosen),
        )

    def cheapest_transition(self, beam: Beam, neighbors: Neighbors) -> Transition:
        """The transition to the cheapest neighbor, which is unique; scores are ignored."""
        index = least(neighbors.fill(neighbors.unmasked_costs, torch.inf))
        terminal = neighbors.only_terminal
        if self.finish == "first":
            terminal = neighbors.look_up(index).terminal[:, 0]
        never = torch.zeros_like(terminal)
        chosen = Selection(index, torch.ones_like(index, dtype=torch.bool), terminal, never)
        return Transition(
            neighbors,
            torch.ones_like(index[:, 0]),
            take(beam, neighbors, chosen),
            neighbors.unmasked_costs.gather(-1, index),
            never,
            ~never,
        )

    @cached_property
    def scores_unneeded(self) -> bool:
        """Does the trajectory not depend on any score?"""
        return self.oracle.unique and self.width == 1 and self.strategy == FollowOracle()

    def collect_then_score(self, scorer: ParallelScorer, beam: Beam) -> Trajectory:
        """Collect without gradients; then score all visited nodes in one pass."""
        with torch.no_grad():
            if self.scores_unneeded:
                path = self.collect(ZeroScorer(), initial_beam(self.space, ZeroScorer()), lean=True)
            else:
                path = self.collect(scorer, beam, lean=True)
        path = path.rescored(scorer, scorer.replay(beam.memory, path.visits))
        if not self.scores_unneeded:
            return path
        return replace(path, transitions=[*map(_compared_with_policy, path.transitions)])


def _compared_with_policy(transition: Transition) -> Transition:
    """Mark whether the learned policy would also take a transition to the cheapest neighbor."""
    _, first = transition.neighbors.best(1)
    step = transition.step
    taken = step.slots * transition.neighbors.actions + step.actions
    own = (first == taken)[:, 0]
    return replace(transition, increased=~own, on_policy=own)


@final
class ZeroScorer(Scorer):
    """Scores every neighbor 0."""

    complete = True

    def start(self, space: SearchSpace[Any]) -> tuple[SearchSpace[Any], int, int]:
        return space, len(space), 1

    def score(
        self, memory: tuple[SearchSpace[Any], int, int], nodes: Any
    ) -> Float[Tensor, "batch k a"]:
        space, *shape = memory
        expansion = space.expand(nodes)
        zero = torch.zeros((), device=expansion.terminal.device)
        return zero.expand(*shape, expansion.actions)

    def advance(
        self, memory: tuple[SearchSpace[Any], int, int], nodes: Any, move: Move
    ) -> tuple[SearchSpace[Any], int, int]:
        return memory[0], *move.slots.shape


def search_trajectory(
    result: SearchResult, oracle: Oracle | None = None, *, finish: Finish | None = None
) -> Trajectory:
    """The trajectory of a search that is done: its beams with their costs.

    Only the oracle goes through the beams once more, and nothing is scored. So the neighbors that
    were dropped have no scores here, and no loss can be computed. At the last transition, `costs`
    are those of the whole n-best list. `finish` is that of the search.
    """
    space, zero = result.trace.space, ZeroScorer()
    oracle = space.oracle() if oracle is None else oracle
    beam, memory, costs = initial_beam(space, zero), oracle.start(), oracle.initial()[:, None]
    transitions: list[Transition] = []
    steps = iter(result.trace.steps)
    for step in steps:
        neighbors = expand(space, zero, beam)
        neighbors = _stay(oracle.complete(memory, beam, neighbors), beam, costs)
        here = _taken(step, neighbors, oracle)
        transitions.append(here)
        settled = settled_beam(step)
        if settled is not None:
            last = final_choice(settled, neighbors.scale)
            last = replace(last, completion=here.costs[step.settled][..., None])
            transitions.append(replace(_taken(next(steps), last, oracle), final=True))
        beam, move = advance(space, zero, beam, step)
        costs = move.keep(here.costs)
        if beam.examples.numel() > 0:
            memory = oracle.advance(memory, beam.nodes, move)
    width = max((step.slots.shape[1] for step in result.trace.steps), default=1)
    return Trajectory(space, oracle, width, finish_of(space, finish), transitions)


def _taken(step: Step, neighbors: Neighbors, oracle: Oracle) -> Transition:
    """A transition of the learned policy, which was taken already."""
    costs = neighbors.unmasked_costs.gather(-1, step.slots * neighbors.actions + step.actions)
    reached = costs.masked_fill(~step.kept, torch.inf).amin(dim=-1)
    return Transition(
        replace(neighbors, completion=None),
        step.kept.sum(dim=-1),
        step,
        costs.masked_fill(~step.ranked, 0.0),
        reached - neighbors.least_cost > oracle.tolerance,
        torch.ones_like(step.ended),
    )


def _stay(neighbors: Neighbors, beam: Beam, costs: Float[Tensor, "batch k"]) -> Neighbors:
    """Give finished hypotheses, each its own only neighbor, the cost they already have.

    Costs that are not known come after all others.
    """
    completion = neighbors.completion
    assert completion is not None  # an oracle was asked
    if bool(beam.finished.any()):
        own = costs.to(completion.dtype)[..., None]
        completion = torch.where(beam.finished[..., None], own, completion)
        neighbors = replace(neighbors, completion=completion)
    return neighbors.with_unknown_last()


def _on_policy(learned: Selection, chosen: Selection) -> Bool[Tensor, " batch"]:
    """Does the transition, as far as b_{h-1} goes, follow the learned policy?"""
    if chosen is learned:
        return torch.ones_like(learned.terminal)
    own = learned.same(chosen) & ~chosen.stopped
    return own | (learned.terminal & (chosen.terminal | chosen.stopped))
