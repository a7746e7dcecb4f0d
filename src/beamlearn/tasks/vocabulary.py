"""Vocabulary: the words of a training set and their parts, in numbers."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeVar

import torch
from jaxtyping import Int
from pydantic import TypeAdapter
from torch import Tensor

LEAST_COUNT = 5
"""Rarer affixes have no number; rarer characters share one."""
REMEMBERED = 100_000
"""How many words are cached with their numbers."""
Same = TypeVar("Same", bound="Vocabulary")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What is known of words from training; everything else is number 0."""

    words: Mapping[str, int]
    """Every form of the training data, and how often it occurs."""
    affixes: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    """The words that have a pretrained vector."""
    vector_size: int = 0
    min_count: int = 2
    """Rarer words share the vector of unknown ones."""
    affix_length: int = 4
    characters: tuple[str, ...] = ()
    max_characters: int = 0
    """How many characters of a word are seen; of longer words the first and the last ones."""

    @classmethod
    def from_json(cls: type[Same], facts: Mapping[str, Any]) -> Same:
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
        return numbered([word for word, count in folded.items() if count >= self.min_count])

    @cached_property
    def affix_numbers(self) -> dict[str, int]:
        """Numbers of the affixes."""
        return numbered(self.affixes)

    @cached_property
    def vector_numbers(self) -> dict[str, int]:
        """Numbers of the words that have a pretrained vector."""
        return numbered(self.vectors)

    @cached_property
    def character_numbers(self) -> dict[str, int]:
        """Numbers of the characters; the one after them is that of all others."""
        return numbered(self.characters)

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
            other = len(self.characters) + 1
            spelled = spelling_of(word, self.max_characters)
            row += [self.character_numbers.get(letter, other) for letter in spelled]
            row += [0] * (self.max_characters - len(spelled))
            if len(self._rows) < REMEMBERED:
                self._rows[word] = row
        return row


def numbered(symbols: Iterable[str]) -> dict[str, int]:
    """Numbers from 1 on; 0 is for what is unknown."""
    return {symbol: number for number, symbol in enumerate(symbols, 1)}


def count_words(
    words: Iterable[Sequence[str]],
    *,
    vectors: Collection[str] = (),
    vector_size: int = 0,
    min_count: int = 2,
    affix_length: int = 4,
    max_characters: int = 0,
) -> dict[str, Any]:
    """The fields of a vocabulary for a training set."""
    forms = Counter(word for sentence in words for word in sentence)
    affixes: Counter[str] = Counter()
    letters: Counter[str] = Counter()
    for word, count in forms.items():
        for affix in affixes_of(word, affix_length):
            affixes[affix] += count
        for letter in spelling_of(word, max_characters):
            letters[letter] += count
    return {
        "words": dict(forms.most_common()),
        "affixes": frequent(affixes),
        "vectors": tuple(vectors),
        "vector_size": vector_size,
        "min_count": min_count,
        "affix_length": affix_length,
        "characters": frequent(letters),
        "max_characters": max_characters,
    }


def frequent(symbols: Counter[str], least: int = LEAST_COUNT) -> tuple[str, ...]:
    """The symbols that occur often enough, the most frequent first."""
    return tuple(symbol for symbol, count in symbols.most_common() if count >= least)


def spelling_of(word: str, length: int) -> str:
    """The characters of a word; of a longer one its beginning and its end.

    >>> spelling_of("dependency", 6), spelling_of("tree", 6)
    ('depncy', 'tree')
    """
    return (
        word if len(word) <= length else word[: -(-length // 2)] + word[len(word) - length // 2 :]
    )


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
