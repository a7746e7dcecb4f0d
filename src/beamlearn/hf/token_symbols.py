"""The tokens of a Hugging Face tokenizer, as transduction asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from transformers import PreTrainedTokenizerBase


@final
@dataclass(frozen=True)
class TokenizedTargets:
    """How targets are cut into tokens and joined again; special tokens are no part of them."""

    tokenizer: PreTrainedTokenizerBase

    def cut(self, text: str) -> list[str]:
        numbers = self.tokenizer(text_target=text, add_special_tokens=False, verbose=False)
        return list(self.tokenizer.convert_ids_to_tokens(numbers["input_ids"]))

    def join(self, tokens: Sequence[str]) -> str:
        numbers = self.tokenizer.convert_tokens_to_ids(list(tokens))
        return str(self.tokenizer.decode(numbers, skip_special_tokens=True))


@final
@dataclass(frozen=True)
class TokenSymbols:
    """The vocabulary of a model: a tokenizer, and perhaps numbers that it has no token for."""

    tokenizer: PreTrainedTokenizerBase
    size: int
    """How many numbers the model scores."""

    @property
    def target(self) -> TokenizedTargets:
        """What cuts and joins targets."""
        return TokenizedTargets(self.tokenizer)

    @cached_property
    def names(self) -> list[str]:
        """What each number is called, where people look at it."""
        known = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        names = [*known, *[None] * (self.size - len(known))]
        return [f"<{number}>" if name is None else name for number, name in enumerate(names)]

    @cached_property
    def target_tokens(self) -> list[str]:
        """Every token that the tokenizer has."""
        return [self.names[number] for number in sorted(self.tokenizer.get_vocab().values())]

    @property
    def source_symbols(self) -> list[str]:
        """The same, as one tokenizer cuts both."""
        return self.target_tokens

    @cached_property
    def target_numbers(self) -> dict[str, int]:
        """Their numbers."""
        return dict(self.tokenizer.get_vocab())

    @cached_property
    def silent(self) -> frozenset[int]:
        """Numbers that are no part of a text: special tokens, and those without a token.

        What stands for unknown text is special, but a part of it.
        """
        special = {*self.tokenizer.all_special_ids} - {self.tokenizer.unk_token_id}
        known = {*self.tokenizer.get_vocab().values()}
        return frozenset(special | {*range(self.size)} - known)

    def spell(self, numbers: Sequence[int]) -> list[str]:
        """The tokens of an output, without its end."""
        return [self.names[number] for number in numbers if number not in self.silent]
