"""Greedy search: a single hypothesis, which ends at its first best neighbor that is terminal."""

from typing import Any

import torch

from ..check import check_steps
from .beam import Step, advance, expand, initial_beam
from .beam_search import SearchResult
from .candidates import Candidates, check_first, final_lists
from .scorer import Scorer
from .space import SearchSpace
from .trace import Trace


def greedy_search(space: SearchSpace[Any], scorer: Scorer, longest: int) -> SearchResult:
    """What `pooled_search` finds with one hypothesis, where nothing better can come later.

    A neighbor that is terminal and best ends the search of its example: of all others at the same
    depth none is above it, so there is no second one to keep and no pool to compare with.
    """
    steps: list[Step] = []
    with torch.no_grad():
        beam = initial_beam(space, scorer)
        final = [(beam.examples[:0], Candidates.empty(beam.scores[:0], 1))]
        while beam.examples.numel() > 0:
            check_steps(len(steps), longest)
            neighbors = expand(space, scorer, beam)
            best = Candidates.among(beam, neighbors, *neighbors.best(1))
            check_first(best, beam, neighbors)
            step = best.step(beam, best.ends[:, 0])
            steps.append(step)
            if step.some_ended:
                final.append((beam.examples[step.ended], best.keep(step.ended)))
            beam, _ = advance(space, scorer, beam, step)
    return SearchResult(Trace(space, steps), *final_lists(final))
