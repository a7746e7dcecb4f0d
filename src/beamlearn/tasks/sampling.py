"""Sample outputs of many sentences: by the sentence, its number and the seed alone."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import reduce
from typing import Any

import torch

from ..evaluation.evaluate import evaluating
from ..learning.seeds import seed_of
from ..search.constrained_space import restricted
from ..search.constraint import Constraint
from ..search.sample_result import SampledOutput, SampleResult
from ..search.stochastic_beam_search import stochastic_beam_search
from .decoding import NumberedSentence, batched
from .task import Model, PredictionRequest

BATCH = 64
"""How many sentences are searched together."""
Spelling = Callable[[Any], Mapping[str, Any]]
"""From an output of a space to the fields that JSON has for it."""


def sampled(
    model: Model,
    sentences: Iterable[Sized],
    request: PredictionRequest,
    numbers: Iterable[int],
    spell: Spelling,
    constraint: Constraint | None = None,
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the number and the sample of every sentence, batch by batch, short ones first."""
    places = [NumberedSentence(*pair) for pair in zip(sentences, numbers, strict=True)]
    for batch, weights in batched(model, places, BATCH, request.width):
        seeds = [seed_of(request.seed, "sample", place.number) for place in batch]
        with weights:
            chosen = [place.sentence for place in batch]
            found = draw(model, chosen, request.width, seeds, constraint)
        for place, outputs in zip(batch, found.nbest, strict=True):
            yield place.number, records(outputs, spell)


@torch.no_grad()
def draw(
    model: Model,
    batch: Sequence[Sized],
    count: int,
    seeds: Sequence[int],
    constraint: Constraint | None = None,
) -> SampleResult:
    """Sample a batch with the scorer in evaluation mode."""
    space = restricted(model.space(batch), constraint)
    with evaluating(model.scorer):
        return stochastic_beam_search(space, model.scorer, count, seeds=seeds)


def records(outputs: Sequence[SampledOutput], spell: Spelling) -> list[dict[str, Any]]:
    """A sample as JSON has it; what several hypotheses spell alike is one output."""
    found: dict[str, tuple[Mapping[str, Any], list[SampledOutput]]] = {}
    for way in outputs:
        fields = spell(way.output)
        found.setdefault(json.dumps(fields), (fields, []))[1].append(way)
    return [{**fields, **numbers(ways)} for fields, ways in found.values()]


def numbers(ways: Sequence[SampledOutput]) -> dict[str, float]:
    """The probability of an output, that it is in the sample, and its weight, from its ways."""
    return {
        "probability": sum(way.probability for way in ways),
        "inclusion": reduce(lambda one, two: one + two - one * two, (w.inclusion for w in ways)),
        "weight": sum(way.weight for way in ways),
    }
