"""Beam search with a pool: hypotheses that end leave the beam and make room for others."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..check import allowed_steps, check_steps, check_width
from .beam import Beam, Step, advance, expand, initial_beam
from .beam_search import SearchResult
from .candidates import Candidates, check_first, final_lists
from .greedy_search import greedy_search
from .neighbors import Neighbors
from .scorer import Scorer
from .space import SearchSpace
from .trace import Trace

EarlyStopping = bool | Literal["never"]
"""When the search of an example with k finished hypotheses ends.

True: at once. False: when the best running score, at its present length, is not above that of
the worst finished one. "never": when it would not be even at the greatest length.
"""
Stops = Callable[[Any, Int[Tensor, "batch m"], Int[Tensor, "batch m"]], Bool[Tensor, "batch m"]]
"""Which neighbors end for another reason, by the nodes of a beam, their slots and actions."""
Parts = Callable[[Any], Int[Tensor, "#batch #k #a"]]
"""The number of the part that each neighbor of the nodes of a beam belongs to."""


def pooled_search(
    space: SearchSpace[Any],
    scorer: Scorer,
    width: int = 8,
    *,
    early_stopping: EarlyStopping = False,
    max_steps: int | None = None,
    stops: Stops | None = None,
    parts: Parts | None = None,
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

    `stops` ends more neighbors than the space does. It is asked about the best (1 + e) k of them,
    where a node has up to e terminal neighbors, but at least 1; only these can run on. With
    `parts`, k neighbors of every part run on, and the terminal ones among the k best of their
    part enter the pool: what lags behind in score stays in the beam if it leads its part.

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
    later_wins = early_stopping == "never" and scorer.length_power > 0
    if width == 1 and stops is None and parts is None and not later_wins:
        return greedy_search(space, scorer, longest)
    steps: list[Step] = []
    with torch.no_grad():
        beam = initial_beam(space, scorer)
        pool, waiting = Candidates.empty(beam.scores, width), False
        final = [(beam.examples[:0], pool.keep(slice(0)))]
        while beam.examples.numel() > 0:
            check_steps(len(steps), longest)
            neighbors = expand(space, scorer, beam)
            best, running = _choose(beam, neighbors, width, stops, parts)
            check_first(best, beam, neighbors, pool)
            if best is running and not waiting:  # nothing has ended so far
                steps.append(running.step(beam, torch.zeros_like(running.there[:, 0])))
                beam, _ = advance(space, scorer, beam, steps[-1])
                continue
            pool, waiting = pool.staying(at=beam.kept.shape[1]), True
            if best is not running:
                pool = pool.join(best.only(best.ends)).best(width)
            expected = _expected_best(
                early_stopping, running.scores[:, 0], len(steps) + 1, longest, scorer
            )
            ended = ~running.there[:, 0] | (pool.there[:, -1] & ~(expected > pool.scores[:, -1]))
            steps.append(_record(beam, running, pool, ended))
            final.append((beam.examples[ended], pool.keep(ended)))
            beam, move = advance(space, scorer, beam, running.step(beam, ended))
            pool = pool.each(move.keep)
    return SearchResult(Trace(space, steps), *final_lists(final))


def _check(early_stopping: object) -> None:
    if not isinstance(early_stopping, bool) and early_stopping != "never":
        raise ValueError(
            f'`early_stopping` must be True, False or "never", got {early_stopping!r}.'
        )


def _choose(
    beam: Beam, neighbors: Neighbors, width: int, stops: Stops | None, parts: Parts | None
) -> tuple[Candidates, Candidates]:
    """The best neighbors, and those that run on; maybe the same."""
    if parts is None:
        return _split(beam, neighbors, width, stops)
    numbers = parts(beam.nodes).expand_as(neighbors.local)
    there = [numbers == number for number in numbers.unique().tolist()]
    found = [_split(beam, neighbors, width, stops, part) for part in there]
    best, running = (reduce(Candidates.join, each) for each in zip(*found, strict=True))
    return best.best(best.slots.shape[1]), running.best(running.slots.shape[1])


def _split(
    beam: Beam,
    neighbors: Neighbors,
    width: int,
    stops: Stops | None,
    part: Bool[Tensor, "batch k a"] | None = None,
) -> tuple[Candidates, Candidates]:
    """The k best neighbors, and the k best of those that are not terminal; maybe the same.

    Where each node has at most one terminal neighbor, these are all among the 2k best.
    """
    ending = neighbors.terminal.expand(-1, -1, neighbors.actions).sum(dim=-1)
    sparse = width > 1 and int(ending.max()) <= 1  # the single best one is found faster
    several = 2 if sparse else 1
    if stops is not None:
        some = ending.masked_fill(ending == neighbors.actions, 0)  # the others end anyway
        several = 1 + max(1, int(some.max()))
    ranked = Candidates.among(beam, neighbors, *neighbors.best(several * width, part))
    if stops is not None:
        ranked = ranked.ending(stops(beam.nodes, ranked.slots, ranked.actions))
    best = ranked.each(lambda field: field[:, :width])
    if not bool(best.ends.any()):
        return best, best
    if sparse or stops is not None:
        return best, ranked.only(~ranked.ends).best(width)
    rest = ~neighbors.terminals() if part is None else ~neighbors.terminals() & part
    return best, Candidates.among(beam, neighbors, *neighbors.best(width, rest))


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


def _record(
    beam: Beam, running: Candidates, pool: Candidates, ended: Bool[Tensor, " batch"]
) -> Step:
    """The same for the trace: what runs and then the pool; at the end the pool in front."""
    record = running.join(pool)
    if not bool(ended.any()):
        return record.step(beam, ended)
    last = ended[:, None]
    after = pool.join(running.only(~last.expand_as(running.there)))
    record = record.each(lambda on, end: torch.where(last, end, on), after)
    first = torch.arange(record.slots.shape[1], device=ended.device) == 0
    step = record.step(beam, ended)
    return replace(step, kept=record.there & (first | ~last))
