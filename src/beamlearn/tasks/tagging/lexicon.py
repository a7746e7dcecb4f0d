"""Lexicon: the words, affixes and tags of a training set, and their numbers."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Int
from pydantic import TypeAdapter
from torch import Tensor

from .space import UNSEEN

LEAST_AFFIX_COUNT = 5


@final
@dataclass(frozen=True)
class Lexicon:
    """What is known from training; everything else is number 0 (or, for tags, `UNSEEN`)."""

    words: Mapping[str, int]
    """Every form of the training data, and how often it occurs."""
    tags: tuple[str, ...]
    affixes: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    """The words that have a pretrained vector."""
    vector_size: int = 0
    min_count: int = 2
    """Rarer words share the vector of unknown ones."""
    affix_length: int = 4

    @classmethod
    def of(
        cls,
        words: Iterable[Sequence[str]],
        tags: Iterable[Sequence[str]],
        *,
        vectors: Collection[str] = (),
        vector_size: int = 0,
        min_count: int = 2,
        affix_length: int = 4,
    ) -> "Lexicon":
        """Count a training set."""
        forms = Counter(word for sentence in words for word in sentence)
        endings: Counter[str] = Counter()
        for word, count in forms.items():
            for affix in affixes_of(word, affix_length):
                endings[affix] += count
        return cls(
            words=dict(forms.most_common()),
            tags=tuple(sorted({tag for sentence in tags for tag in sentence})),
            affixes=tuple(a for a, count in endings.most_common() if count >= LEAST_AFFIX_COUNT),
            vectors=tuple(vectors),
            vector_size=vector_size,
            min_count=min_count,
            affix_length=affix_length,
        )

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Lexicon":
        """Read what `to_json` wrote; ValueError if it is anything else."""
        return TypeAdapter(cls).validate_python(facts)

    def to_json(self) -> dict[str, Any]:
        """Everything, as a value for a JSON file."""
        return asdict(self)

    def __contains__(self, word: str) -> bool:
        return word in self.words

    @cached_property
    def word_numbers(self) -> dict[str, int]:
        """Numbers of the words that are frequent enough, whatever their case."""
        folded: Counter[str] = Counter()
        for word, count in self.words.items():
            folded[word.lower()] += count
        frequent = [word for word, count in folded.items() if count >= self.min_count]
        return {word: number for number, word in enumerate(frequent, 1)}

    @cached_property
    def affix_numbers(self) -> dict[str, int]:
        """Numbers of the affixes."""
        return {affix: number for number, affix in enumerate(self.affixes, 1)}

    @cached_property
    def vector_numbers(self) -> dict[str, int]:
        """Numbers of the words that have a pretrained vector."""
        return {word: number for number, word in enumerate(self.vectors, 1)}

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        """Numbers of the tags."""
        return {tag: number for number, tag in enumerate(self.tags)}

    def number_tags(self, tags: Sequence[str]) -> Int[Tensor, " words"]:
        """The tags of a sentence in numbers."""
        return torch.tensor([self.tag_numbers.get(tag, UNSEEN) for tag in tags], dtype=torch.long)

    def number_words(self, words: Sequence[str]) -> Int[Tensor, "words f"]:
        """The words of a sentence in numbers, as `WordVectors` takes them."""
        rows = [self._row(word) for word in words]
        return torch.tensor(rows, dtype=torch.long).view(len(rows), len(self._row("")))

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        return {}

    def _row(self, word: str) -> list[int]:
        row = self._rows.get(word)
        if row is None:
            row = [self.word_numbers.get(word.lower(), 0)]
            if self.vectors:
                number = self.vector_numbers.get(word, 0)
                row.append(number or self.vector_numbers.get(word.lower(), 0))
            affixes = affixes_of(word, self.affix_length)
            row += [self.affix_numbers.get(affix, 0) for affix in affixes]
            if word in self.words:
                self._rows[word] = row
        return row


def affixes_of(word: str, length: int) -> list[str]:
    """The beginnings and ends of a word up to a length, and its shape; always equally many.

    >>> affixes_of("Rain", 2)
    ['^r', '^ra', 'n$', 'in$', '=Xxx']
    """
    if length == 0:
        return []
    low = word.lower()
    starts = [f"^{low[:n]}" for n in range(1, length + 1)]
    ends = [f"{low[-n:]}$" for n in range(1, length + 1)]
    return [*starts, *ends, f"={shape_of(word)}"]


def shape_of(word: str) -> str:
    """Capitals as X, small letters as x, digits as 0, in runs of at most two.

    >>> shape_of("McDonald's-1999")
    "XxXxx'x-00"
    """
    kinds = [
        "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in word
    ]
    return re.sub(r"(.)\1+", r"\1\1", "".join(kinds))[:12]
