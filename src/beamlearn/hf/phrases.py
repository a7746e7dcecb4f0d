"""Phrases that every output must contain."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..search.space import Expansion
from .rules import Rules


@final
class Phrases:
    """What outputs have of some phrases, as automata that read token after token.

    A phrase is contained where its tokens stand one after another. The state of a phrase is how
    many of its first tokens the output ends with; once it is contained, the state stays at its
    length. What is still missing in an output are all tokens of phrases that it does not contain,
    but those that it has of the one it is furthest in. Tokens that are forced are no part of a
    phrase.

    >>> phrases = Phrases([[5, 6]], Rules(8, None, (1,), 9), torch.device("cpu"))
    >>> state = phrases.start(1)
    >>> phrases.missing_after(state).tolist()
    [[[2, 2, 2, 2, 2, 1, 2, 2]]]
    >>> phrases.missing_after(phrases.after(state, torch.tensor([[5]]))).tolist()
    [[[2, 2, 2, 2, 2, 1, 0, 2]]]
    """

    def __init__(
        self,
        phrases: Sequence[Sequence[int]],
        rules: Rules,
        device: torch.device,
        *,
        first_forced: bool = False,
        last_forced: bool = False,
    ) -> None:
        _check(phrases, rules, rules.max_new_tokens - first_forced - last_forced)
        self.forced = int(last_forced)
        tokens = sorted({token for phrase in phrases for token in phrase})
        kinds = torch.full((rules.vocabulary,), len(tokens))
        kinds[tokens] = torch.arange(len(tokens))
        longest = max(map(len, phrases))
        tables = [_automaton(phrase, tokens, longest) for phrase in phrases]
        self.kinds = kinds.to(device)
        """Tokens by their place among those of phrases; all others are of the last kind."""
        self.lengths = torch.tensor([len(phrase) for phrase in phrases], device=device)
        self.next = torch.tensor(tables, device=device)
        """The state after each phrase, state and kind."""

    def start(self, batch: int) -> Int[Tensor, "batch 1 phrases"]:
        """Nothing is there yet."""
        return self.lengths.new_zeros(batch, 1, len(self.lengths))

    def after(
        self, state: Int[Tensor, "batch k phrases"], tokens: Int[Tensor, "batch k"]
    ) -> Int[Tensor, "batch k phrases"]:
        """The states after one more token of each hypothesis."""
        numbers = torch.arange(len(self.lengths), device=state.device)
        return self.next[numbers, state, self.kinds[tokens][..., None]]

    def missing_after(self, state: Int[Tensor, "batch k phrases"]) -> Int[Tensor, "batch k a"]:
        """How many tokens are missing after each token that may come next."""
        numbers = torch.arange(len(self.lengths), device=state.device)
        states = self.next[numbers, state].movedim(-1, -2)
        lacking = states < self.lengths
        missing = (self.lengths * lacking).sum(dim=-1) - (states * lacking).amax(dim=-1)
        return missing[..., self.kinds]

    def restrict(
        self, expansion: Expansion, state: Int[Tensor, "batch k phrases"], left: int
    ) -> Expansion:
        """Rule out ends before all phrases are there, and what leaves no room for them.

        `left` is how many tokens may follow the one that comes next.
        """
        missing = self.missing_after(state)
        legal: Bool[Tensor, "batch k a"] = torch.where(
            expansion.terminal, missing == 0, missing <= max(left - self.forced, 0)
        )
        if expansion.legal is not None:
            legal = legal & expansion.legal
        return Expansion(expansion.actions, expansion.terminal, legal)


def _automaton(phrase: Sequence[int], tokens: Sequence[int], longest: int) -> list[list[int]]:
    """The next state for each state and kind of token."""
    table = []
    for state in range(longest + 1):
        if state >= len(phrase):
            table.append([len(phrase)] * (len(tokens) + 1))
            continue
        ways = [[*phrase[:state], token] for token in tokens]
        table.append([*(_overlap(way, phrase) for way in ways), 0])
    return table


def _overlap(written: Sequence[int], phrase: Sequence[int]) -> int:
    """How many first tokens of the phrase the written ones end with."""
    lengths = range(min(len(written), len(phrase)), 0, -1)
    return next((n for n in lengths if [*written[-n:]] == [*phrase[:n]]), 0)


def _check(phrases: Sequence[Sequence[int]], rules: Rules, room: int) -> None:
    given = [phrase if isinstance(phrase, int) else [*phrase] for phrase in phrases]
    if not given or any(isinstance(phrase, int) or not phrase for phrase in given):
        raise ValueError(
            "`must_contain` must be phrases of at least one token each, got "
            f"{given!r:.60}; give a list of lists of token ids, or None."
        )
    for phrase in given:
        for token in phrase:
            if not 0 <= token < rules.vocabulary or token in rules.ends:
                raise ValueError(
                    "A phrase of `must_contain` must be made of tokens that the model scores "
                    f"(below {rules.vocabulary}) and that do not end an output, got {phrase}; "
                    "tokenize phrases without special tokens."
                )
    if (needed := sum(map(len, given))) > room:
        raise ValueError(
            f"The phrases of `must_contain` have {needed} tokens, but an output has room for only "
            f"{room}; raise `max_new_tokens`."
        )
