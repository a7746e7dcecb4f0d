"""Symbols: what sources and targets of a training set are made of, and their numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Int
from pydantic import TypeAdapter
from torch import Tensor

from ...data.text import DataError
from ..vocabulary import frequent
from .space import END, UNSEEN
from .tokens import AnyTokenizer

SOURCE_END, UNKNOWN = 0, 1
"""The symbol after every source, so that none is empty; the one for all that are not known."""


@final
@dataclass(frozen=True, kw_only=True)
class Symbols:
    """What is known from training, and how texts are cut into it."""

    source: AnyTokenizer
    """What cuts sources."""
    target: AnyTokenizer
    """What cuts and joins targets."""
    source_symbols: tuple[str, ...]
    """Those with numbers from 2 on, the most frequent first."""
    target_tokens: tuple[str, ...]
    """Those with numbers from 1 on, as `END` is 0; the most frequent first."""

    @classmethod
    def of(
        cls,
        sources: Iterable[str],
        references: Iterable[Iterable[str]],
        *,
        source: AnyTokenizer,
        target: AnyTokenizer,
        source_min_count: int = 1,
        target_min_count: int = 1,
    ) -> "Symbols":
        """Count a training set; of equally frequent symbols the first to occur comes first."""
        symbols = Counter(symbol for text in sources for symbol in source.cut(text))
        tokens = Counter(
            token for several in references for text in several for token in target.cut(text)
        )
        known = frequent(tokens, target_min_count)
        if not known:
            raise DataError(
                "The targets of the training data must have a token that occurs at least "
                f"`target_min_count` = {target_min_count} times, got none; check the targets"
                f"{', or lower it' if target_min_count > 1 else ''}."
            )
        return cls(
            source=source,
            target=target,
            source_symbols=frequent(symbols, source_min_count),
            target_tokens=known,
        )

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Symbols":
        """Read what `to_json` wrote; ValueError if it is anything else."""
        return TypeAdapter(cls).validate_python(facts)

    def to_json(self) -> dict[str, Any]:
        """Everything, models of subwords among it, as a value for a JSON file."""
        facts: dict[str, Any] = TypeAdapter(Symbols).dump_python(self, mode="json")
        return facts

    @property
    def source_size(self) -> int:
        """How many numbers sources have."""
        return len(self.source_symbols) + 2

    @property
    def actions(self) -> int:
        """How many numbers targets have, that of `END` among them."""
        return len(self.target_tokens) + 1

    @cached_property
    def source_numbers(self) -> dict[str, int]:
        """Numbers of the source symbols."""
        return {symbol: n for n, symbol in enumerate(self.source_symbols, UNKNOWN + 1)}

    @cached_property
    def target_numbers(self) -> dict[str, int]:
        """Numbers of the target tokens."""
        return {token: n for n, token in enumerate(self.target_tokens, END + 1)}

    @cached_property
    def target_names(self) -> dict[int, str]:
        """Target tokens by their numbers."""
        return {n: token for token, n in self.target_numbers.items()}

    def number_source(self, tokens: Iterable[str]) -> Int[Tensor, " symbols"]:
        """A source in numbers, with the symbol after it."""
        numbers = [self.source_numbers.get(token, UNKNOWN) for token in tokens]
        return torch.tensor([*numbers, SOURCE_END])

    def number_target(self, tokens: Iterable[str]) -> Int[Tensor, " tokens"]:
        """A target in numbers, without `END`."""
        numbers = [self.target_numbers.get(token, UNSEEN) for token in tokens]
        return torch.tensor(numbers, dtype=torch.long)

    def spell(self, numbers: Sequence[int]) -> list[str]:
        """The tokens of an output; `END` is none of them."""
        return [self.target_names[number] for number in numbers if number != END]
