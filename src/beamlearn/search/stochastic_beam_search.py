"""Stochastic beam search: k different outputs, sampled from the model without replacement."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from ..check import allowed_steps, check_steps, check_width
from .beam import Beam, Step, initial_beam, sampled_policy
from .beam_search import final_rows, result_of, search_step
from .perturbation import Perturbation
from .sample_result import SampleResult
from .sampling import drawn_seeds, given_seeds, perturbed_beam
from .scorer import Scorer
from .space import SearchSpace


def stochastic_beam_search(
    space: SearchSpace[Any],
    scorer: Scorer,
    width: int = 8,
    *,
    generator: torch.Generator | None = None,
    seeds: Sequence[int] | Int[Tensor, " batch"] | None = None,
    gradients: bool = False,
    max_steps: int | None = None,
) -> SampleResult:
    """Sample `width` different outputs of each example from the model's distribution.

    Kool, van Hoof and Welling (2019): a beam search by G, the log-probability of a node plus Gumbel
    noise, where the noise of the neighbors of a node is drawn given that their largest G is that
    of the node. The k outputs with the largest G are a sample without replacement, as if they were
    drawn one after another, each in proportion to p among those that are left.

    The scores of `scorer` must be log-probabilities. Finished hypotheses keep their slots until all
    are finished. Noise is a function of the seed of an example and the path to a node: the same
    `seeds`, a number for each example, draw the same outputs in any batch, and those of a
    narrower beam are the first of a wider one. Without `seeds`, they come from the `generator`.

    With `gradients=True` the log-probabilities and the weights carry their gradient; which outputs
    are in the sample, and how likely that was, is held fixed.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda word: [word + "a", word + "b"] if len(word) < 2 else [])
    >>> scorer = bl.FunctionScorer(lambda path: float(path[-1].endswith("b")))
    >>> scorer.accumulate, scorer.normalize = True, "log_softmax"
    >>> sample = bl.stochastic_beam_search(words, scorer, width=4, seeds=[7])
    >>> sorted((way.output[-1], round(way.weight, 2)) for way in sample.nbest[0])
    [('aa', 0.07), ('ab', 0.2), ('ba', 0.2), ('bb', 0.53)]
    """
    width, allowed = check_width(width), allowed_steps(max_steps, space.max_steps)
    steps: list[Step] = []
    with torch.set_grad_enabled(gradients):
        beam = initial_beam(space, scorer)
        beam = perturbed_beam(beam, scorer, _seeds(beam, generator, seeds))
        while beam.examples.numel() > 0:
            check_steps(beam.depth, allowed)
            taken, beam = search_step(space, scorer, beam, width, "pad", sampled_policy)
            steps += taken
        return _result(space, steps, beam)


def _seeds(
    beam: Beam, generator: torch.Generator | None, seeds: Sequence[int] | Tensor | None
) -> Int[Tensor, " batch"]:
    """A seed for each example, given or drawn."""
    if seeds is None:
        return drawn_seeds(generator, beam)
    if generator is not None:
        raise ValueError("Noise comes from `seeds` or from a `generator`, got both; give one.")
    return given_seeds(seeds, beam)


def _result(space: SearchSpace[Any], steps: Sequence[Step], beam: Beam) -> SampleResult:
    """Read the sample off the last steps."""
    like = beam.scores.double()
    perturbed = final_rows(steps, like, lambda step: _noise(step).scores)
    thresholds = final_rows(steps, like, lambda step: _noise(step).thresholds[:, None])[:, 0]
    return SampleResult(result_of(space, steps, beam.scores), perturbed, thresholds)


def _noise(step: Step) -> Perturbation:
    assert step.perturbation is not None  # that of the initial beam goes with all of them
    return step.perturbation
