"""Beams and the transitions between them: POLICY, beam cost, transition cost."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..check import check_choice
from .check_tensors import check_best_scores, check_shape
from .neighbors import Entries, Move, Neighbors
from .normalization import normalizer
from .perturbation import Perturbation
from .ranking import least
from .scorer import Scorer
from .space import Expansion, Finish, SearchSpace


@dataclass(frozen=True)
class Beam:
    """One beam per example that is still searched, slots ordered by decreasing score."""

    examples: Int[Tensor, " batch"]
    nodes: Any
    memory: Any
    scores: Float[Tensor, "batch k"]
    kept: Bool[Tensor, "batch k"]
    finished: Bool[Tensor, "batch k"]
    depth: int = 0
    """How many actions led to each hypothesis that is not finished."""
    perturbation: Perturbation | None = None
    """The noise of the nodes, where the beam is a sample."""


@dataclass(frozen=True)
class Selection:
    """The neighbors that form the next beam, by index in A_b, ordered by decreasing score."""

    index: Int[Tensor, "batch k"]
    kept: Bool[Tensor, "batch k"]
    terminal: Bool[Tensor, " batch"]
    """The next beam is a terminal one: one terminal node, or the list that is wanted."""
    stopped: Bool[Tensor, " batch"]
    """The trajectory ends here although the next beam is not terminal."""

    def end(self, where: Bool[Tensor, " batch"]) -> "Selection":
        """Stop after this transition where `where` is True."""
        return replace(self, stopped=self.stopped | where)

    def final_beam(self, width: int = 1) -> "Selection":
        """Keep the best neighbor alone, or the best `width`, where the next beam is terminal.

        Paper note: T_k holds singletons, but Algorithms 1 and 2 return up to k nodes (decision 2).
        A list of several costs what its cheapest output costs, so that Eq. (3) telescopes, too.
        """
        first = torch.arange(self.index.shape[1], device=self.index.device) < width
        return replace(self, kept=self.kept & (first | ~self.terminal[:, None]))

    def same(self, other: "Selection") -> Bool[Tensor, " batch"]:
        """Do both lead to the same beam?"""
        width = max(self.index.shape[1], other.index.shape[1])
        one, two = (s.widened(width) for s in (self, other))
        equal = (one.index == two.index) | ~one.kept
        return ((one.kept == two.kept) & equal).all(dim=-1)

    def widened(self, width: int) -> "Selection":
        """Add empty slots up to `width`."""
        missing = width - self.index.shape[1]
        pad = torch.nn.functional.pad
        return replace(self, index=pad(self.index, (0, missing)), kept=pad(self.kept, (0, missing)))


def where(condition: Bool[Tensor, " batch"], chosen: Selection, otherwise: Selection) -> Selection:
    """Take each row from `chosen` or from `otherwise`."""
    width = max(chosen.index.shape[1], otherwise.index.shape[1])
    one, two = chosen.widened(width), otherwise.widened(width)
    return Selection(
        index=torch.where(condition[:, None], one.index, two.index),
        kept=torch.where(condition[:, None], one.kept, two.kept),
        terminal=torch.where(condition, one.terminal, two.terminal),
        stopped=torch.where(condition, one.stopped, two.stopped),
    )


def finish_of(space: SearchSpace[Any], finish: Finish | None) -> Finish:
    """The way to finish that was chosen, or the space's own."""
    chosen = space.finish if finish is None else finish
    check_choice(chosen, get_args(Finish), "way to finish")
    return chosen


def initial_beam(space: SearchSpace[Any], scorer: Scorer) -> Beam:
    """{v_(0)} for every example; one that is itself terminal counts as finished."""
    if scorer.normalize is not None:
        check_choice(scorer.normalize, ("log_softmax",), "normalization")
    nodes = space.initial()
    expansion = space.expand(nodes)
    device = expansion.terminal.device
    batch = len(space)
    finished = torch.zeros(batch, 1, dtype=torch.bool, device=device)
    if expansion.legal is not None:
        finished = finished | ~expansion.legal.any(dim=-1)
    memory = scorer.start(space.scored)
    return Beam(
        examples=torch.arange(batch, device=device),
        nodes=nodes,
        memory=memory,
        scores=torch.zeros(batch, 1, device=device),
        kept=torch.ones_like(finished),
        finished=finished,
    )


def expand(space: SearchSpace[Any], scorer: Scorer, beam: Beam) -> Neighbors:
    """A_b with its scores: each slot's own numbers, and what is added to all of them.

    Eq.:  s(v') = [s(v)] + local(v') [- logsumexp of local over the legal actions of v]
    with the bracketed parts where the scorer accumulates and normalizes. With a length bonus b
    and a length power p, s(v') of a node at depth t is (sum of (local + b) along its path) / t^p.
    """
    local = scorer.score(beam.memory, space.scored_nodes(beam.nodes))
    return scored(scorer, beam, space.expand(beam.nodes), local)


def scored(
    scorer: Scorer, beam: Beam, expansion: Expansion, local: Float[Tensor, "batch k a"]
) -> Neighbors:
    """`expand`, given the numbers of a scorer."""
    if local.dtype in (torch.float16, torch.bfloat16):
        local = local.float()  # sums along a path would run out of digits
    check_shape(local, (*beam.kept.shape, expansion.actions), "scores", "scorer")
    carried = beam.scores.to(local.dtype)
    offset = carried if scorer.accumulate else torch.zeros_like(carried)
    if scorer.length_power and scorer.accumulate:
        offset = offset * max(beam.depth, 1) ** scorer.length_power
    idle = ~beam.kept | beam.finished
    ragged = bool(idle.any())
    if scorer.normalize is not None:
        offset = offset - normalizer(local, expansion.legal, idle if ragged else None)
    if scorer.length_bonus:
        offset = offset + scorer.length_bonus
    scale = 1.0
    if scorer.length_power:
        scale = (beam.depth + 1) ** -scorer.length_power
        offset = offset * scale
    if ragged:
        offset = torch.where(beam.finished, carried, offset)
    found = Neighbors(
        local,
        offset,
        expansion.terminal,
        expansion.legal,
        beam.kept,
        beam.finished,
        ragged,
        expansion.ending,
        complete=scorer.complete,
        scale=scale,
    )
    return _perturbed(beam, found)


def _perturbed(beam: Beam, neighbors: Neighbors) -> Neighbors:
    """The neighbors with their noise, where the beam has some."""
    if beam.perturbation is None:
        return neighbors
    scores = neighbors.unmasked_scores.detach().double()
    phi = scores.masked_fill(~neighbors.mask, -torch.inf).view_as(neighbors.local)
    return replace(neighbors, perturbed=beam.perturbation.spread(phi))


def policy(neighbors: Neighbors, width: int, finish: Finish) -> Selection:
    """POLICY(G, b, k, s) of Algorithm 1: the learned transition.

    Where the next beam is terminal, `kept` still holds the runners-up, for n-best lists;
    `Selection.final_beam` drops them.
    """
    return _transition(neighbors, neighbors.best, width, finish)


def oracle_policy(
    neighbors: Neighbors, width: int, finish: Finish, final_width: int = 1
) -> Selection:
    """POLICY(G, b, k, -c*): the oracle's transition, in slots ordered by score."""
    chosen = _transition(neighbors, neighbors.cheapest, width, finish).final_beam(final_width)
    return ordered(neighbors, chosen)


def sampled_policy(neighbors: Neighbors, width: int, finish: Finish) -> Selection:
    """POLICY(G, b, k, G): the k best by perturbed log-probability G, in slots ordered by it."""
    return _transition(neighbors, neighbors.sampled, width, finish)


def ordered(neighbors: Neighbors, chosen: Selection) -> Selection:
    """Put a selection in the order of a beam: by decreasing score, ties by index."""
    index = chosen.index.masked_fill(~chosen.kept, neighbors.mask.shape[1])
    index, place = index.sort(dim=-1)
    kept = chosen.kept.gather(-1, place)
    index = index.masked_fill(~kept, 0)
    scores = neighbors.scores.detach().gather(-1, index).masked_fill(~kept, -torch.inf)
    place = scores.argsort(dim=-1, descending=True, stable=True)
    return replace(chosen, index=index.gather(-1, place), kept=kept.gather(-1, place))


def _transition(
    neighbors: Neighbors,
    rank: Callable[..., tuple[Bool[Tensor, "batch k"], Int[Tensor, "batch k"]]],
    width: int,
    finish: Finish,
) -> Selection:
    """Rank the neighbors, and see whether the next beam is terminal."""
    terminal, among = neighbors.only_terminal, None
    if finish == "first":
        _, first = rank(1)
        terminal = neighbors.look_up(first).terminal[:, 0]
        among = neighbors.terminals() == terminal[:, None, None]
    kept, index = rank(width, among)
    return Selection(index, kept, terminal, torch.zeros_like(terminal))


@dataclass(frozen=True)
class Step:
    """A transition of every example that is still searched, slot by slot."""

    examples: Int[Tensor, " batch"]
    slots: Int[Tensor, "batch k"]
    actions: Int[Tensor, "batch k"]
    scores: Float[Tensor, "batch k"]
    ranked: Bool[Tensor, "batch k"]
    """Which slots hold a neighbor; after a transition into a terminal beam, the n-best list."""
    kept: Bool[Tensor, "batch k"]
    """Which slots belong to the next beam."""
    finished: Bool[Tensor, "batch k"]
    stays: Bool[Tensor, "batch k"]
    """Which slots take no action: finished hypotheses, and slots that hold nothing."""
    ended: Bool[Tensor, " batch"]
    some_ended: bool
    stopped: Bool[Tensor, " batch"]
    """Examples whose trajectory ends although the next beam need not be terminal."""
    perturbation: Perturbation | None = None
    """The noise of the nodes in the slots, where the beam is a sample."""

    @property
    def terminal(self) -> Bool[Tensor, " batch"]:
        """Examples whose next beam is a terminal one: a single terminal node, or a final list."""
        alone = self.kept.sum(dim=-1) == 1
        return self.ended & self.finished[:, 0] & (alone | ~self.stopped)

    @cached_property
    def settled(self) -> Bool[Tensor, " batch"] | None:
        """Examples that only the final choice is left to; None: there are none."""
        if not bool(self.finished.any()):
            return None
        settled = (self.finished | ~self.kept).all(dim=-1) & ~self.ended
        return settled if bool(settled.any()) else None

    @cached_property
    def move(self) -> Move:
        """The way to the next beams; examples that have ended or are settled leave the batch."""
        over = self.ended if self.some_ended else None
        if self.settled is not None:
            over = self.settled | self.ended
        rows = None if over is None else over.logical_not().nonzero()[:, 0]
        fields = (self.slots, self.actions, self.stays, self.finished)
        return Move(rows, *(f if rows is None else f.index_select(0, rows) for f in fields))


def take(beam: Beam, neighbors: Neighbors, ranked: Selection, final_width: int = 1) -> Step:
    """Look up what a selection leads to; refuse scores that cannot be ranked.

    Into a terminal beam, `final_width` nodes are kept.
    """
    entries = neighbors.look_up(ranked.index)
    check_best_scores(entries.scores.detach()[:, 0], beam.examples)
    ended = ranked.terminal | ranked.stopped
    scores, terminal = entries.scores, entries.terminal
    stays = torch.zeros_like(terminal)
    if neighbors.ragged or not bool(ranked.kept.all()):
        # Empty slots hold zeros, not the -inf of a neighbor that does not exist.
        scores = scores.masked_fill(~ranked.kept, 0.0)
        terminal = terminal & ranked.kept
        stays = beam.finished.gather(-1, entries.slots) | ~ranked.kept
    some_ended = bool(ended.any())
    return Step(
        examples=beam.examples,
        slots=entries.slots,
        actions=entries.actions,
        scores=scores,
        ranked=ranked.kept,
        kept=ranked.final_beam(final_width).kept if some_ended else ranked.kept,
        finished=terminal,
        stays=stays,
        ended=ended,
        some_ended=some_ended,
        stopped=ranked.stopped,
        perturbation=_next_noise(beam, neighbors, entries, ranked),
    )


def _next_noise(
    beam: Beam, neighbors: Neighbors, entries: Entries, ranked: Selection
) -> Perturbation | None:
    """The noise of the nodes that a selection leads to, if there is any."""
    if beam.perturbation is None or neighbors.perturbed is None:
        return None
    return beam.perturbation.follow(
        neighbors.perturbed, entries.slots, entries.actions, ranked.index, ranked.kept
    )


def advance(space: SearchSpace[Any], scorer: Scorer, beam: Beam, step: Step) -> tuple[Beam, Move]:
    """Go to the next beams."""
    move, nodes, memory = step.move, beam.nodes, beam.memory
    if move.slots.shape[0] > 0:
        nodes = space.advance(nodes, move)
        memory = scorer.advance(memory, space.scored_nodes(nodes), move)
    examples, scores, kept = map(move.keep, (step.examples, step.scores, step.kept))
    noise = None if step.perturbation is None else step.perturbation.each(move.keep)
    after = Beam(examples, nodes, memory, scores, kept, move.finished, beam.depth + 1, noise)
    return after, move


def settled_beam(step: Step) -> Beam | None:
    """The next beams that hold finished hypotheses only: nothing there is scored any more."""
    rows = step.settled
    if rows is None:
        return None
    examples, scores = step.examples[rows], step.scores[rows]
    kept, finished = step.kept[rows], step.finished[rows]
    noise = None if step.perturbation is None else step.perturbation.each(lambda f: f[rows])
    return Beam(examples, None, None, scores, kept, finished, perturbation=noise)


def final_choice(beam: Beam, scale: float) -> Neighbors:
    """A_b of beams of finished hypotheses: each is its own only neighbor.

    `scale` is that of the neighbors which became these beams; it changes no score.
    """
    alone = beam.scores.new_zeros(*beam.scores.shape, 1)
    terminal = torch.ones(1, 1, 1, dtype=torch.bool, device=alone.device)
    found = Neighbors(
        alone, beam.scores, terminal, None, beam.kept, beam.finished, ragged=True, scale=scale
    )
    return _perturbed(beam, found)


def beam_cost(neighbors: Neighbors, chosen: Selection) -> Float[Tensor, " batch"]:
    """c*(b'), the cost of the cheapest node of the next beam."""
    costs = neighbors.unmasked_costs.gather(-1, chosen.index)
    return costs.masked_fill(~chosen.kept, torch.inf).amin(dim=-1)


def transition_cost(neighbors: Neighbors, chosen: Selection) -> Float[Tensor, " batch"]:
    """c(b, b') = c*(b') - c*(b), with c*(b) read off as the cost of the cheapest neighbor.

    For an exact oracle the two readings of c*(b) agree; for an inexact one this is the one
    under which the oracle's own transition costs nothing (decision 14).
    """
    return beam_cost(neighbors, chosen) - neighbors.least_cost


def effective_width(
    neighbors: Neighbors, width: int, finish: Finish, final_width: int = 1
) -> Int[Tensor, " batch"]:
    """The width of a transition: k, or into a terminal beam `final_width` (decision 2).

    With finish="first" a terminal neighbor survives only on top, so that is also the width where
    the best-scored neighbor is terminal or the cheapest one is.
    """
    single = neighbors.only_terminal
    if finish == "first":
        _, hat = neighbors.best(1)
        star = least(neighbors.fill(neighbors.unmasked_costs, torch.inf))
        for first in (hat, star):
            single = single | neighbors.look_up(first).terminal[:, 0]
    return torch.where(single, min(final_width, width), width)
