"""BEAMSEARCH (Algorithm 1), with n-best lists, confidences and scores that add up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from ..check import allowed_steps, check_example, check_steps, check_width
from ..plural import counted
from .beam import (
    Beam,
    Selection,
    Step,
    advance,
    expand,
    final_choice,
    finish_of,
    initial_beam,
    policy,
    settled_beam,
    take,
)
from .history import History, Recorder
from .neighbors import Neighbors
from .result_table import result_table
from .scorer import Scorer
from .space import Finish, SearchSpace
from .trace import Trace

if TYPE_CHECKING:
    from ..reports.search_drawing import Drawing


@dataclass(frozen=True)
class Hypothesis:
    """One complete output of a search."""

    output: Any
    score: float
    probability: float
    """Its share of the final beam: softmax of the scores on the n-best list."""
    step_scores: tuple[float, ...] = field(repr=False)
    """What each action added to the score; they sum to `score`."""

    def __str__(self) -> str:
        return f"{self.score:.4f}  {self.probability:.1%}  {self.output!r}"


@dataclass(frozen=True, repr=False)
class SearchResult:
    """What a beam search found for each example; Python objects are built when asked for.

    Printed, it is a table of the best outputs of the first examples.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda word: [word + "a", word + "b"] if len(word) < 2 else [])
    >>> scorer = bl.FunctionScorer(lambda path: path[-1].count("b") - 2 * path[-1].startswith("b"))
    >>> print(bl.beam_search(words, scorer, width=2))
    example        score  probability  output
          0       1.0000        73.1%  ('', 'a', 'ab')
                  0.0000        26.9%  ('', 'a', 'aa')
    """

    trace: Trace
    nbest_scores: Float[Tensor, "batch k"]
    """Scores of the n-best lists, best first; with their gradient if that was asked for."""
    nbest_mask: Bool[Tensor, "batch k"]

    def __len__(self) -> int:
        return self.nbest_scores.shape[0]

    def __str__(self) -> str:
        def rows(example: int) -> list[tuple[float, float, Any]]:
            return [(h.score, h.probability, h.output) for h in self._nbest(example)]

        return result_table(self.nbest_mask.sum(dim=-1).tolist(), rows)

    def __repr__(self) -> str:
        most = self.nbest_scores.shape[1]
        return (
            f"<SearchResult: {counted(len(self), 'example')}, up to {counted(most, 'output')} each>"
        )

    @property
    def scores(self) -> Float[Tensor, " batch"]:
        """The score of the best output of each example."""
        return self.nbest_scores[:, 0]

    @cached_property
    def outputs(self) -> list[Any]:
        """The best output of each example."""
        return self.trace.best_outputs()

    @cached_property
    def nbest(self) -> list[list[Hypothesis]]:
        """Up to k outputs of each example, best first.

        They are the best neighbors at the transition into the terminal beam: all complete, and
        the first is the result.
        """
        return [self._nbest(example) for example in range(len(self))]

    @property
    def beams(self) -> list[list[list[Any]]]:
        """The beams that were visited, as outputs so far; the last holds the result alone."""
        return self.trace.beams

    def history(self, example: int = 0) -> History:
        """What happened to one example, in plain values: for tables and pictures."""
        check_example(example, len(self))
        recorder = Recorder(self.trace.space, example)
        for row in self.trace.rows[example]:
            recorder.add(row)
        return recorder.history()

    def draw(self, example: int = 0) -> "Drawing":
        """The search of one example as a picture; a notebook shows it."""
        from ..reports.search_drawing import Drawing  # imported only if something is drawn

        return Drawing(self.history(example))

    def _nbest(self, example: int) -> list[Hypothesis]:
        scores = self.nbest_scores[example][self.nbest_mask[example]].detach().double()
        paths = [self.trace.last(example, slot) for slot in range(len(scores))]
        outputs = self.trace.outputs(example, paths)
        shares = scores.softmax(dim=-1)
        return [
            Hypothesis(output, score, share, tuple(path.step_scores))
            for output, score, share, path in zip(
                outputs, scores.tolist(), shares.tolist(), paths, strict=True
            )
        ]


def beam_search(
    space: SearchSpace[Any],
    scorer: Scorer,
    width: int = 8,
    *,
    finish: Finish | None = None,
    gradients: bool = False,
    max_steps: int | None = None,
) -> SearchResult:
    """Find the outputs that a beam of `width` nodes leads to.

    Algorithm 1:  b <- {v_(0)};  while BEST(b, 1, s) is not terminal:  b <- POLICY(G, b, k, s)

    Width 1 is greedy search. With `gradients=True` the scores of the n-best lists carry their
    gradient; which hypotheses are on the lists is held fixed.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda word: [word + "a", word + "b"] if len(word) < 2 else [])
    >>> scorer = bl.FunctionScorer(lambda path: path[-1].count("b") - 2 * path[-1].startswith("b"))
    >>> bl.beam_search(words, scorer, width=2).outputs
    [('', 'a', 'ab')]
    """
    width, allowed = check_width(width), allowed_steps(max_steps, space.max_steps)
    finish = finish_of(space, finish)
    steps: list[Step] = []
    with torch.set_grad_enabled(gradients):
        beam = initial_beam(space, scorer)
        while beam.examples.numel() > 0:
            check_steps(beam.depth, allowed)
            taken, beam = search_step(space, scorer, beam, width, finish)
            steps += taken
        return result_of(space, steps, beam.scores)


def search_step(
    space: SearchSpace[Any],
    scorer: Scorer,
    beam: Beam,
    width: int,
    finish: Finish,
    choose: Callable[[Neighbors, int, Finish], Selection] = policy,
) -> tuple[list[Step], Beam]:
    """b <- POLICY(G, b, k, s): the step, maybe with a final choice after it, and the next beams."""
    neighbors = expand(space, scorer, beam)
    steps = [take(beam, neighbors, choose(neighbors, width, finish))]
    settled = settled_beam(steps[0])
    if settled is not None:
        last = final_choice(settled, neighbors.scale)
        steps.append(take(settled, last, choose(last, width, finish)))
    after, _ = advance(space, scorer, beam, steps[0])
    return steps, after


def exhaustive_search(
    space: SearchSpace[Any], scorer: Scorer, *, limit: int = 100_000, max_steps: int | None = None
) -> SearchResult:
    """Rank every output of a small space, for checking: a beam from which nothing falls.

    Raises ValueError if a beam would hold more than `limit` nodes.
    """
    result = beam_search(space, scorer, width=limit, max_steps=max_steps)
    widest = max((int(step.ranked.sum(dim=-1).max()) for step in result.trace.steps), default=0)
    if widest >= limit:
        raise ValueError(
            f"Exhaustive search needs a space with fewer than `limit` = {limit} nodes at each "
            "depth, but this one has more; raise `limit`, or use a smaller example."
        )
    return result


def final_rows(
    steps: Sequence[Step], like: Tensor, field: Callable[[Step], Shaped[Tensor, "batch k"]]
) -> Shaped[Tensor, "batch k"]:
    """Collect a field of the rows that ended at each step, in the order of the examples."""
    if not steps:
        return like.new_zeros(0, 1)
    width = max(step.slots.shape[1] for step in steps)
    last = [step for step in steps if step.some_ended]
    parts = [field(step)[step.ended] for step in last]
    pad = torch.nn.functional.pad
    order = torch.cat([step.examples[step.ended] for step in last]).argsort()
    return torch.cat([pad(part, (0, width - part.shape[1])) for part in parts])[order]


def result_of(space: SearchSpace[Any], steps: Sequence[Step], like: Tensor) -> SearchResult:
    """What the steps of a search found."""
    scores = final_rows(steps, like, lambda step: step.scores)
    ranked = final_rows(steps, like.bool(), lambda step: step.ranked)
    return SearchResult(Trace(space, steps), scores, ranked)
