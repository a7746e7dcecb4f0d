"""The texts of tokens, so that patterns can say which outputs of a model are allowed."""

from dataclasses import dataclass
from typing import final

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..search.automaton import Automaton
from .rules import plain_rules_of
from .token_symbols import TokenSymbols

BROKEN = "\N{REPLACEMENT CHARACTER}"
"""What stands for a part of a character."""


@final
@dataclass(frozen=True)
class TokenTexts:
    """What each token of a model adds to a text; nothing, for those that no text may have.

    These are special tokens, and parts of characters. Read them once, and make a constraint of
    each pattern from them.

    `hf.beam_search(model, **tokenizer(texts), width=4, constraint=found.matching("[0-9]+"))`
    """

    first: tuple[str, ...]
    """At the beginning of an output, where some tokenizers leave out a space."""
    later: tuple[str, ...]
    """After another token."""
    ends: tuple[int, ...]
    """The tokens that end an output."""
    device: torch.device

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> "TokenTexts":
        """Decode every token alone, and after itself."""
        rules = plain_rules_of(model, 1)
        silent = {*TokenSymbols(tokenizer, rules.vocabulary).silent, *tokenizer.all_special_ids}
        silent |= {*rules.ends}
        spoken = [number for number in range(rules.vocabulary) if number not in silent]
        once, twice = (
            tokenizer.batch_decode(
                [[number] * times for number in spoken], clean_up_tokenization_spaces=False
            )
            for times in (1, 2)
        )
        first, later = [""] * rules.vocabulary, [""] * rules.vocabulary
        for number, alone, both in zip(spoken, once, twice, strict=True):
            if BROKEN not in both and both.startswith(alone):
                first[number], later[number] = alone, both[len(alone) :]
        return cls(tuple(first), tuple(later), rules.ends, model.device)

    def matching(self, pattern: str) -> Automaton:
        """The outputs whose text matches a regular expression, up to an end token.

        A token is legal where all of its characters can be read.
        """
        first = None if self.first == self.later else self.first
        found = Automaton.from_regex(pattern, self.later, first=first)
        return (found.ended_by(*self.ends) if self.ends else found).to(self.device)
