"""Beam search with a pool: hypotheses that end leave the beam and make room for others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..check import allowed_steps, check_steps, check_width
from .beam import Beam, Step, advance, expand, initial_beam
from .beam_search import SearchResult
from .check_tensors import check_best_scores
from .neighbors import Neighbors
from .ranking import top
from .scorer import Scorer
from .space import SearchSpace
from .trace import Trace

EarlyStopping = bool | Literal["never"]
"""When the search of an example with k finished hypotheses ends.

True: at once. False: when the best running score, at its present length, is not above that of
the worst finished one. "never": when it would not be even at the greatest length.
"""


def pooled_search(
    space: SearchSpace[Any],
    scorer: Scorer,
    width: int = 8,
    *,
    early_stopping: EarlyStopping = False,
    max_steps: int | None = None,
) -> SearchResult:
    """Search with k running hypotheses and a pool of up to k finished ones.

    At every step, of the neighbors A_b of the running hypotheses:

    - the terminal ones among BEST(A_b, k, s) enter the pool, which keeps its k best;
    - the k best that are not terminal run on, however many have ended.

    Scores are those of `beam_search`: with a length power p, sums along the path divided by
    t^p at depth t. All running hypotheses have the same depth, so that is the order of their
    sums; the pool compares different lengths. An example ends when nothing runs any more, or
    its pool is full and, by `early_stopping`, not expected to change; then its n-best list is
    the pool. "never" takes `max_steps` of the search or the space for the greatest length.

    This is the search of `generate` in the transformers library. In
    `beam_search(finish="pad")` a finished hypothesis keeps a slot and competes with the
    running ones, so the beam narrows as hypotheses end; that is the policy which training
    assumes, and the one to use with a scorer that was trained by it. Here k hypotheses run to
    the end, and a terminal neighbor that is not among the k best is lost. `False` and "never"
    count on scores that only fall along a path, as sums of log-probabilities do.

    `beams` of the result lists what runs, then the pool; ties are broken as everywhere, and in
    the pool in favor of what ended first.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda word: [word + "a", word + "."] if word[-1:] != "." else [])
    >>> scorer = bl.FunctionScorer(lambda path: -abs(len(path[-1]) - 3) - path[-1].count("."))
    >>> [h.output[-1] for h in pooled_search(words, scorer, width=2, max_steps=9).nbest[0]]
    ['aa.', 'a.']
    """
    width, longest = check_width(width), allowed_steps(max_steps, space.max_steps)
    _check(early_stopping)
    steps: list[Step] = []
    with torch.no_grad():
        beam = initial_beam(space, scorer)
        pool = Candidates.empty(beam.scores, width)
        final = [(beam.examples[:0], pool.keep(slice(0)))]
        while beam.examples.numel() > 0:
            check_steps(len(steps), longest)
            neighbors = expand(space, scorer, beam)
            best, running = _split(beam, neighbors, width)
            _check_scores(beam, neighbors, best, pool)
            pool = pool.staying(at=beam.kept.shape[1])
            if best is not running:
                pool = pool.join(best.only(best.ends)).best(width)
            expected = _expected_best(
                early_stopping, running.scores[:, 0], len(steps) + 1, longest, scorer
            )
            ended = ~running.there[:, 0] | (pool.there[:, -1] & ~(expected > pool.scores[:, -1]))
            steps.append(_record(beam, running, pool, ended))
            final.append((beam.examples[ended], pool.keep(ended)))
            beam, move = advance(space, scorer, beam, _step(beam, running, ended))
            pool = pool.each(move.keep)
    return SearchResult(Trace(space, steps), *_final_lists(final))


def _check(early_stopping: object) -> None:
    if not isinstance(early_stopping, bool) and early_stopping != "never":
        raise ValueError(
            f'`early_stopping` must be True, False or "never", got {early_stopping!r}.'
        )


@dataclass(frozen=True)
class Candidates:
    """Some hypotheses of each example, with the slot and action that led to each."""

    scores: Float[Tensor, "batch m"]
    there: Bool[Tensor, "batch m"]
    """Which slots hold a hypothesis; the scores of the others are zero."""
    slots: Int[Tensor, "batch m"]
    actions: Int[Tensor, "batch m"]
    stays: Bool[Tensor, "batch m"]
    """Which slots take no action: what had ended before, and what is not there."""
    ends: Bool[Tensor, "batch m"]

    @classmethod
    def empty(cls, like: Float[Tensor, "batch slots"], width: int) -> "Candidates":
        """`width` slots that hold nothing."""
        zeros = like.new_zeros(like.shape[0], width)
        nowhere, nothing = zeros.long(), zeros.bool()
        return cls(zeros, nothing, nowhere, nowhere, ~nothing, nothing)

    def each(self, function: Callable[..., Tensor], *others: "Candidates") -> "Candidates":
        """Apply a function to every field, together with that field of others."""
        together = zip(*map(_fields, (self, *others)), strict=True)
        return Candidates(*(function(*fields) for fields in together))

    def keep(self, rows: Bool[Tensor, " batch"] | slice) -> "Candidates":
        """Some of the examples."""
        return self.each(lambda field: field[rows])

    def only(self, chosen: Bool[Tensor, "batch m"]) -> "Candidates":
        """Empty the slots that were not chosen."""
        there = self.there & chosen
        scores, stays = self.scores.masked_fill(~there, 0.0), self.stays | ~there
        return Candidates(scores, there, self.slots, self.actions, stays, self.ends & there)

    def join(self, other: "Candidates") -> "Candidates":
        """These slots, then those of another."""
        return self.each(lambda one, two: torch.cat([one, two], dim=-1), other)

    def best(self, k: int) -> "Candidates":
        """The k best, ties in favor of the first."""
        _, place = top(self.scores.masked_fill(~self.there, -torch.inf), k)
        return self.each(lambda field: field.gather(-1, place))

    def staying(self, at: int) -> "Candidates":
        """The same one step later, in a record of steps that keeps them from slot `at` on."""
        place = torch.arange(at, at + self.slots.shape[1], device=self.slots.device)
        stays = torch.ones_like(self.stays)
        return Candidates(
            self.scores, self.there, place.expand_as(self.slots), self.actions, stays, self.ends
        )


def _fields(slots: Candidates) -> tuple[Tensor, ...]:
    return slots.scores, slots.there, slots.slots, slots.actions, slots.stays, slots.ends


def _split(beam: Beam, neighbors: Neighbors, width: int) -> tuple[Candidates, Candidates]:
    """The k best neighbors, and the k best of those that are not terminal; maybe the same.

    Where each node has at most one terminal neighbor, these are all among the 2k best.
    """
    ending = neighbors.terminal.expand(-1, -1, neighbors.actions).sum(dim=-1)
    sparse = width > 1 and int(ending.max()) <= 1  # the single best one is found faster
    ranked = _look_up(beam, neighbors, *neighbors.best(2 * width if sparse else width))
    best = ranked.each(lambda field: field[:, :width])
    if not bool(best.ends.any()):
        return best, best
    if sparse:
        return best, ranked.only(~ranked.ends).best(width)
    return best, _look_up(beam, neighbors, *neighbors.best(width, ~neighbors.terminals()))


def _look_up(
    beam: Beam, neighbors: Neighbors, kept: Bool[Tensor, "batch m"], index: Int[Tensor, "batch m"]
) -> Candidates:
    entries = neighbors.look_up(index)
    finished = beam.finished.gather(-1, entries.slots)  # only an initial node that is terminal
    found = Candidates(
        entries.scores, kept, entries.slots, entries.actions, finished, entries.terminal
    )
    return found.only(kept)


def _check_scores(beam: Beam, neighbors: Neighbors, best: Candidates, pool: Candidates) -> None:
    """Complain about scores that cannot be ranked, and where there is no output at all."""
    index = best.slots[:, :1] * neighbors.actions + best.actions[:, :1]
    first = neighbors.look_up(index).scores[:, 0]
    lost = (first == -torch.inf) & pool.there[:, 0]
    check_best_scores(first.masked_fill(lost, 0.0), beam.examples)


def _expected_best(
    early_stopping: EarlyStopping,
    best: Float[Tensor, " batch"],
    depth: int,
    longest: int,
    scorer: Scorer,
) -> Float[Tensor, " batch"]:
    """The best score that a running hypothesis is expected to reach."""
    if early_stopping is True:
        return torch.full_like(best, -torch.inf)
    if early_stopping == "never" and scorer.length_power > 0:
        share: float = (depth / longest) ** scorer.length_power
        return best * share
    return best


def _step(beam: Beam, running: Candidates, ended: Bool[Tensor, " batch"]) -> Step:
    """The transition to what runs on."""
    return Step(
        examples=beam.examples,
        slots=running.slots,
        actions=running.actions,
        scores=running.scores,
        ranked=running.there,
        kept=running.there,
        finished=running.ends,
        stays=running.stays,
        ended=ended,
        some_ended=bool(ended.any()),
        stopped=torch.zeros_like(ended),
    )


def _record(
    beam: Beam, running: Candidates, pool: Candidates, ended: Bool[Tensor, " batch"]
) -> Step:
    """The same for the trace: what runs and then the pool; at the end the pool in front."""
    record = running.join(pool)
    if not bool(ended.any()):
        return _step(beam, record, ended)
    last = ended[:, None]
    after = pool.join(running.only(~last.expand_as(running.there)))
    record = record.each(lambda on, end: torch.where(last, end, on), after)
    first = torch.arange(record.slots.shape[1], device=ended.device) == 0
    step = _step(beam, record, ended)
    return replace(step, kept=record.there & (first | ~last))


def _final_lists(
    found: Sequence[tuple[Int[Tensor, " _"], Candidates]],
) -> tuple[Float[Tensor, "batch k"], Bool[Tensor, "batch k"]]:
    """Collect the pools in the order of the examples."""
    order = torch.cat([examples for examples, _ in found]).argsort()
    scores = torch.cat([pool.scores for _, pool in found])
    return scores[order], torch.cat([pool.there for _, pool in found])[order]
