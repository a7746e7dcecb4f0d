"""Decode many sentences in batches of similar lengths; answers come back in the original order."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import count
from time import perf_counter
from typing import Any, Generic, TypeVar

import torch

from ..evaluation.evaluate import Evaluation, evaluate_search, evaluating, merge_evaluations
from ..search.beam_search import SearchResult, beam_search
from ..search.constrained_space import restricted
from ..search.constraint import Constraint
from ..training.batches import batches_of
from .task import Model

Sentence = TypeVar("Sentence", bound=Sized)
Found = TypeVar("Found")
BATCH = 256
"""How many sentences a batch has at most, unless a number is given."""
ROOM = 1 << 17
"""How many words or symbols times the width of the beam a batch has at most, unless it is of one
sentence."""


@dataclass(frozen=True)
class NumberedSentence(Generic[Sentence]):
    """A sentence that remembers its place in the input."""

    sentence: Sentence
    number: int

    def __len__(self) -> int:
        return len(self.sentence)


def searched(
    model: Model,
    sentences: Iterable[Sentence],
    width: int,
    nbest: int,
    batch_size: int,
    numbers: Iterable[int] | None = None,
    constraint: Constraint | None = None,
) -> Iterator[tuple[list[int], list[Sentence], SearchResult]]:
    """Search batch by batch, short sentences first; yield their numbers, themselves and results.

    `numbers` are those that the sentences have in all of the input; None: they are counted from 0.
    """
    if nbest < 1:
        raise ValueError(
            f"`nbest` must be at least 1, got {nbest}; use 1 for the best output alone."
        )
    counted = count() if numbers is None else numbers
    places = [NumberedSentence(*pair) for pair in zip(sentences, counted, strict=False)]
    for batch, weights in batched(model, places, batch_size, width):
        chosen = [place.sentence for place in batch]
        with weights:
            result = search(model, chosen, width, constraint)
        yield [place.number for place in batch], chosen, result


def batched(
    model: Model, examples: Sequence[NumberedSentence[Sentence]], size: int, width: int
) -> Iterator[tuple[list[NumberedSentence[Sentence]], AbstractContextManager[None]]]:
    """Batches of similar lengths, each with a context in which the model has the right weights."""
    mixture = model.mixture
    if mixture is None:
        for batch in batches_of(examples, size):
            yield from ((part, nullcontext()) for part in roomy(batch, width))
        return
    shares: list[list[NumberedSentence[Sentence]]] = [[] for _ in mixture.iterates]
    for example in examples:
        shares[mixture.place_of(example.number)].append(example)
    for place, share in enumerate(shares):
        for batch in batches_of(share, size):
            yield from ((part, mixture.using(place)) for part in roomy(batch, width))


def roomy(batch: list[Sentence], width: int) -> Iterator[list[Sentence]]:
    """Cut a batch of long sentences into smaller ones, by `ROOM`."""
    size = max(1, ROOM // (width * max(1, *map(len, batch))))
    return (batch[start : start + size] for start in range(0, len(batch), size))


@dataclass(frozen=True)
class Decodings(Generic[Found]):
    """What a model says of examples with right answers, each of which was decoded once."""

    answers: list[Found]
    evaluation: Evaluation
    """Example by example; the answers are in the same order, that of the input."""
    seconds: float
    """What decoding took, without the comparison with the right answers."""


def decoded(
    model: Model,
    examples: Iterable[Sentence],
    width: int,
    batch_size: int,
    read: Callable[[Sequence[Sentence], SearchResult], Sequence[Found]],
) -> Decodings[Found]:
    """Decode examples, `read` the answers off each search, and compare with the right ones."""
    began, comparing = perf_counter(), 0.0
    answers: dict[int, Found] = {}
    parts: list[Evaluation] = []
    places = [NumberedSentence(example, number) for number, example in enumerate(examples)]
    for batch, weights in batched(model, places, batch_size, width):
        chosen = [place.sentence for place in batch]
        with weights:
            result = search(model, chosen, width)
            found = read(chosen, result)
            paused = perf_counter()
            parts.append(evaluate_search(result, model.scorer))
            comparing += perf_counter() - paused
        answers |= zip((place.number for place in batch), found, strict=True)
    seconds = perf_counter() - began - comparing
    evaluation = merge_evaluations(parts).placed(torch.tensor(list(answers)))
    return Decodings(in_order(answers.items()), evaluation, seconds)


def evaluated(
    model: Model, examples: Iterable[Sized], width: int, batch_size: int = BATCH
) -> Evaluation:
    """Decode examples and compare them with the references, in their order."""
    return decoded(model, examples, width, batch_size, lambda batch, _: batch).evaluation


@torch.no_grad()
def search(
    model: Model, batch: Sequence[Sized], width: int, constraint: Constraint | None = None
) -> SearchResult:
    """Search a batch with the scorer in evaluation mode."""
    with evaluating(model.scorer):
        return beam_search(restricted(model.space(batch), constraint), model.scorer, width)


def in_order(found: Iterable[tuple[int, Found]]) -> list[Found]:
    """Sort numbered answers by their numbers."""
    by_number = dict(found)
    return [by_number[number] for number in sorted(by_number)]


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
