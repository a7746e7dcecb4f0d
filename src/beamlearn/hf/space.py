"""The outputs of an encoder-decoder as a search space: one token id after another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..search.neighbors import Move
from ..search.oracle import Oracle
from ..search.space import Expansion, Finish, SearchSpace
from .rules import Rules


@dataclass(frozen=True)
class Length:
    """The nodes of a beam: every hypothesis that is not finished has equally many tokens."""

    tokens: int


@final
class HuggingFaceSpace(SearchSpace[Length]):
    """The outputs for a batch of sources, padded as a tokenizer pads them.

    An action is a token id. An output is the list of ids that were chosen: without the token
    from which the decoder starts, with the one that ended it, and without padding, so that its
    length is the one by which `length_power` divides. An output ends with an end token, or at
    `max_new_tokens` with whatever comes there, as in `generate`.

    Without `attention_mask` the padding tokens are left out, unless padding is also an end.
    `costs` makes the oracle of the space, for training.
    """

    def __init__(
        self,
        input_ids: Int[Tensor, "batch symbols"],
        attention_mask: Int[Tensor, "batch symbols"] | None,
        rules: Rules,
        *,
        finish: Finish = "pad",
        costs: "Callable[[HuggingFaceSpace], Oracle] | None" = None,
    ) -> None:
        if input_ids.ndim != 2 or 0 in input_ids.shape:
            raise ValueError(
                "`input_ids` must have one row per source and at least one token per row, got the "
                f"shape {tuple(input_ids.shape)}; give batch x tokens."
            )
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
            if rules.padding not in rules.ends:
                attention_mask = (input_ids != rules.padding).long()
        self.input_ids, self.attention_mask, self.rules = input_ids, attention_mask, rules
        self.finish, self.max_steps, self.costs = finish, rules.max_new_tokens, costs
        self.ends = self._mask(rules.ends)
        self.every = torch.ones_like(self.ends[..., :1])
        self.legal = None if not rules.banned else ~self._mask(rules.banned)

    def __len__(self) -> int:
        return self.input_ids.shape[0]

    def initial(self) -> Length:
        return Length(0)

    def expand(self, nodes: Length) -> Expansion:
        last = nodes.tokens + 1 >= self.rules.max_new_tokens
        forced = self._forced(nodes.tokens, last)
        return Expansion(
            self.rules.vocabulary,
            self.every if last else self.ends,
            self.legal if forced is None else self._mask([forced]),
        )

    def advance(self, nodes: Length, move: Move) -> Length:
        return Length(nodes.tokens + 1)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[list[int]]:
        """Token ids, the one that ended the output included."""
        return [list(tokens) for tokens in actions]

    def oracle(self) -> Oracle:
        return super().oracle() if self.costs is None else self.costs(self)

    def _forced(self, tokens: int, last: bool) -> int | None:
        """The only token that may come next, if there is one; at the limit the last one wins."""
        if last and self.rules.forced_last is not None:
            return self.rules.forced_last
        return self.rules.forced_first if tokens == 0 else None

    def _mask(self, tokens: Sequence[int]) -> Bool[Tensor, "1 1 a"]:
        mask = torch.zeros(
            1, 1, self.rules.vocabulary, dtype=torch.bool, device=self.input_ids.device
        )
        mask[..., list(tokens)] = True
        return mask
