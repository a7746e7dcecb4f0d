"""Decode many sentences in batches of similar lengths; answers come back in the original order."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

from ..evaluation.evaluate import Evaluation, evaluate, evaluating
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
    for batch in batched(model, places, batch_size):
        chosen = [place.sentence for place in batch]
        yield [place.number for place in batch], chosen, search(model, chosen, width)


def batched(model: Model, examples: Sequence[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Batches of similar lengths; for a mixture, each comes while its iterate is in the scorer."""
    if model.mixture is None:
        yield from batches_of(examples, size)
        return
    for numbers in model.mixture.parts(len(examples)):
        yield from batches_of([examples[number] for number in numbers], size)


def evaluated(
    model: Model, examples: Sequence[Sized], width: int, batch_size: int = 64
) -> Evaluation:
    """Decode examples and compare them with the references, in their order."""
    numbers: list[int] = []

    def batches() -> Iterator[list[Sized]]:
        places = [NumberedSentence(example, number) for number, example in enumerate(examples)]
        for batch in batched(model, places, batch_size):
            numbers.extend(place.number for place in batch)
            yield [place.sentence for place in batch]

    found = evaluate(batches(), model, model.scorer, width, references=True)
    return found.placed(torch.tensor(numbers))


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
