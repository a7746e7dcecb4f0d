"""Examples of packed sentences: put into numbers when they are asked for."""

from collections.abc import Sequence
from functools import cached_property
from typing import final, overload

from ...data.packed import PackedLists
from ...training.batches import LazyExamples
from .model import Tagger
from .space import TaggingExample


@final
class PackedExamples(LazyExamples):
    """Sentences in numbers; only those of a batch are in memory."""

    def __init__(self, model: Tagger, words: PackedLists, tags: Sequence[list[str]]) -> None:
        self.model, self.words, self.tags = model, words, tags

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, place: int) -> TaggingExample: ...
    @overload
    def __getitem__(self, place: slice) -> list[TaggingExample]: ...
    def __getitem__(self, place: int | slice) -> TaggingExample | list[TaggingExample]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        return self.model.encode(self.words[place], self.tags[place])

    @cached_property
    def lengths(self) -> list[int]:
        found: list[int] = self.words.lengths.tolist()
        return found
