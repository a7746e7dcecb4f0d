"""Decode many sentences in batches of similar lengths; answers come back in the original order."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

from ..evaluation.evaluate import Evaluation, evaluate, evaluating, merge_evaluations
from ..search.beam_search import SearchResult, beam_search
from ..training.batches import batches_of
from .task import Model

Sentence = TypeVar("Sentence", bound=Sized)
Found = TypeVar("Found")


@dataclass(frozen=True)
class NumberedSentence(Generic[Sentence]):
    """A sentence that remembers its place in the input."""

    sentence: Sentence
    number: int

    def __len__(self) -> int:
        return len(self.sentence)


def searched(
    model: Model, sentences: Iterable[Sentence], width: int, nbest: int, batch_size: int
) -> Iterator[tuple[list[int], list[Sentence], SearchResult]]:
    """Search batch by batch, short sentences first; yield their numbers, themselves and results."""
    if nbest < 1:
        raise ValueError(
            f"`nbest` must be at least 1, got {nbest}; use 1 for the best output alone."
        )
    places = [NumberedSentence(sentence, number) for number, sentence in enumerate(sentences)]
    for batch, weights in batched(model, places, batch_size):
        chosen = [place.sentence for place in batch]
        with weights:
            result = search(model, chosen, width)
        yield [place.number for place in batch], chosen, result


def batched(
    model: Model, examples: Sequence[Sentence], size: int
) -> Iterator[tuple[list[Sentence], AbstractContextManager[None]]]:
    """Batches of similar lengths, each with a context in which the model has the right weights."""
    if model.mixture is None:
        for batch in batches_of(examples, size):
            yield batch, nullcontext()
        return
    for place, numbers in enumerate(model.mixture.assign(len(examples))):
        for batch in batches_of([examples[number] for number in numbers], size):
            yield batch, model.mixture.using(place)


def evaluated(
    model: Model, examples: Sequence[Sized], width: int, batch_size: int = 64
) -> Evaluation:
    """Decode examples and compare them with the references, in their order."""
    numbers: list[int] = []
    parts: list[Evaluation] = []
    places = [NumberedSentence(example, number) for number, example in enumerate(examples)]
    for batch, weights in batched(model, places, batch_size):
        numbers.extend(place.number for place in batch)
        chosen = [place.sentence for place in batch]
        with weights:
            parts.append(evaluate([chosen], model, model.scorer, width, references=True))
    return merge_evaluations(parts).placed(torch.tensor(numbers))


@torch.no_grad()
def search(model: Model, batch: Sequence[Sized], width: int) -> SearchResult:
    """Search a batch with the scorer in evaluation mode."""
    with evaluating(model.scorer):
        return beam_search(model.space(batch), model.scorer, width)


def in_order(found: Iterable[tuple[int, Found]]) -> list[Found]:
    """Sort numbered answers by their numbers."""
    by_number = dict(found)
    return [by_number[number] for number in range(len(by_number))]


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
