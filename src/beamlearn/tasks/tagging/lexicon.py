"""Lexicon: the words and tags of a training set, and their numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor

from ..vocabulary import Vocabulary, count_words
from .space import UNSEEN


@final
@dataclass(frozen=True, kw_only=True)
class TaggingLexicon(Vocabulary):
    """What is known from training; a tag that is not is `UNSEEN`."""

    tags: tuple[str, ...]

    @classmethod
    def of(
        cls, words: Iterable[Sequence[str]], tags: Iterable[Sequence[str]], **options: Any
    ) -> "TaggingLexicon":
        """Count a training set; the options are those of `count_words`."""
        found = {tag for sentence in tags for tag in sentence}
        return cls(**count_words(words, **options), tags=tuple(sorted(found)))

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        """Numbers of the tags."""
        return {tag: number for number, tag in enumerate(self.tags)}

    def number_tags(self, tags: Sequence[str]) -> Int[Tensor, " words"]:
        """The tags of a sentence in numbers."""
        return torch.tensor([self.tag_numbers.get(tag, UNSEEN) for tag in tags], dtype=torch.long)
