"""Batches of examples that are about equally long."""

from collections.abc import Callable, Sequence, Sized
from typing import Any, final, overload

import torch

POOL = 50
"""How many batches are drawn together and then sorted by length."""


@final
class LazyExamples(Sequence[Sized]):
    """Examples that `make` makes when they are asked for; how long they are is known before."""

    def __init__(self, make: Callable[[int], Sized], lengths: Sequence[int]) -> None:
        self.make, self.lengths = make, lengths

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, place: int) -> Sized: ...
    @overload
    def __getitem__(self, place: slice) -> list[Sized]: ...
    def __getitem__(self, place: int | slice) -> Sized | list[Sized]:
        if isinstance(place, slice):
            return [self.make(number) for number in range(len(self))[place]]
        return self.make(place)


@final
class Batches(Sequence[list[Any]]):
    """Batches by the places of their examples, which are taken when a batch is asked for."""

    def __init__(self, examples: Sequence[Any], places: Sequence[Sequence[int]]) -> None:
        self.examples, self.places = examples, places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, number: int) -> list[Any]: ...
    @overload
    def __getitem__(self, number: slice) -> "Batches": ...
    def __getitem__(self, number: int | slice) -> "list[Any] | Batches":
        if isinstance(number, slice):
            return Batches(self.examples, self.places[number])
        return [self.examples[place] for place in self.places[number]]


def batches_of(
    examples: Sequence[Any], size: int, generator: torch.Generator | None = None
) -> list[list[Any]]:
    """Cut examples into batches of similar lengths; in random order if there is a generator.

    Sorting by length is what makes lockstep pay: no batch waits for one long example.

    >>> [len(batch) for batch in batches_of(["a", "bbb", "cc", "d", "ee"], size=2)]
    [2, 2, 1]
    """
    return list(similar(examples, size, generator))


def similar(
    examples: Sequence[Any], size: int, generator: torch.Generator | None = None
) -> Batches:
    """The same batches, each made when it is asked for."""
    lengths = lengths_of(examples)
    order = list(range(len(lengths)))
    pool = len(order)
    if generator is not None:
        order, pool = torch.randperm(len(order), generator=generator).tolist(), POOL * size
    batches = []
    for start in range(0, len(order), max(1, pool)):
        near = sorted(order[start : start + pool], key=lengths.__getitem__)
        batches += [near[place : place + size] for place in range(0, len(near), size)]
    if generator is not None:
        batches = [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]
    return Batches(examples, batches)


def lengths_of(examples: Sequence[Any]) -> Sequence[int]:
    """How long each example is."""
    if isinstance(examples, LazyExamples):
        return examples.lengths
    return [len(example) for example in examples]
