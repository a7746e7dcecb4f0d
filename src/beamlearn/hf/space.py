"""The outputs of a Hugging Face model as a search space: one token id after another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..search.neighbors import Move
from ..search.oracle import Oracle
from ..search.space import Expansion, Finish, SearchSpace
from ..search.steps_left import StepsLeft
from ..tasks.transduction.space import TransductionPosition
from .rules import Rules


@dataclass(frozen=True)
class Encoded:
    """Sources that an encoder has read."""

    states: Float[Tensor, "batch symbols units"]
    mask: Int[Tensor, "batch symbols"] | None
    """None: the decoder is not told about padding."""


@final
class HuggingFaceSpace(SearchSpace[TransductionPosition]):
    """The outputs for a batch of sources or prompts, padded as a tokenizer pads them.

    An action is a token id. An output is the list of ids that were chosen: without the prompt or
    the token from which the decoder starts, with the one that ended it, and without padding, so
    that its length is the one by which `length_power` divides. An output ends with an end token,
    or at its limit with whatever comes there, as in `generate`.

    Without `attention_mask` the padding tokens are left out, unless padding is also an end.
    `limits` are those of each example, in place of `max_new_tokens` for all. `costs` makes the
    oracle of the space, for training; `inputs` are what costs of whole outputs are told of each
    example. `names` are those of the tokens, for people. Where the sources are `encoded` already,
    `input_ids` are what the decoder reads first.
    """

    def __init__(
        self,
        input_ids: Int[Tensor, "batch symbols"],
        attention_mask: Int[Tensor, "batch symbols"] | None,
        rules: Rules,
        *,
        limits: Int[Tensor, " batch"] | None = None,
        finish: Finish = "pad",
        costs: "Callable[[HuggingFaceSpace], Oracle] | None" = None,
        names: Sequence[str] | None = None,
        inputs: Sequence[Any] | None = None,
        encoded: Encoded | None = None,
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
        if limits is None:
            limits = input_ids.new_full(input_ids.shape[:1], rules.max_new_tokens)
        self.input_ids, self.attention_mask, self.rules = input_ids, attention_mask, rules
        self.finish, self.costs, self.limits = finish, costs, limits
        self.names, self.inputs, self.encoded = names, inputs, encoded
        self.shortest, self.max_steps = int(limits.min()), int(limits.max())
        self.ends = self._mask(rules.ends)
        self.legal = None if not rules.banned else ~self._mask(rules.banned)

    def __len__(self) -> int:
        return self.input_ids.shape[0]

    def initial(self) -> TransductionPosition:
        return TransductionPosition(torch.arange(len(self), device=self.limits.device), 0)

    def expand(self, nodes: TransductionPosition) -> Expansion:
        rules = self.rules
        first = nodes.length == 0 and rules.forced_first is not None
        legal = self._mask([rules.forced_first]) if first else self.legal
        if nodes.length + 1 < self.shortest:
            return Expansion(rules.vocabulary, self.ends, legal)
        full = (self.limits[nodes.examples] <= nodes.length + 1)[:, None, None]
        if rules.forced_last is not None:
            rest = torch.ones_like(self.ends) if legal is None else legal
            legal = torch.where(full, self._mask([rules.forced_last]), rest)
        return Expansion(rules.vocabulary, self.ends | full, legal)

    def advance(self, nodes: TransductionPosition, move: Move) -> TransductionPosition:
        return TransductionPosition(move.keep(nodes.examples), nodes.length + 1)

    def steps_left(self, nodes: TransductionPosition) -> StepsLeft:
        """As many tokens as the limit allows; without an end token, no fewer either."""
        most = self.limits[nodes.examples] - nodes.length
        return StepsLeft(torch.ones_like(most) if self.rules.ends else most, most)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[list[int]]:
        """Token ids, the one that ended the output included."""
        return [list(tokens) for tokens in actions]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        if actions[-1] in self.rules.ends:
            return "end"
        return str(actions[-1]) if self.names is None else self.names[actions[-1]]

    def input(self, example: int) -> Any:
        """What was given as `inputs`; without them the number of the example."""
        return example if self.inputs is None else self.inputs[example]

    def oracle(self) -> Oracle:
        return super().oracle() if self.costs is None else self.costs(self)

    def _mask(self, tokens: Sequence[int | None]) -> Bool[Tensor, "1 1 a"]:
        mask = torch.zeros(
            1, 1, self.rules.vocabulary, dtype=torch.bool, device=self.input_ids.device
        )
        mask[..., list(tokens)] = True
        return mask
