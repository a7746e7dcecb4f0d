"""Costs of token ids: the oracles of transduction, for outputs of Hugging Face models."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from ..check import check_choice
from ..search.neighbors import Move
from ..search.oracle import Oracle
from ..tasks.transduction.cost_names import COSTS
from ..tasks.transduction.oracles import Edits, numbered, oracle_of
from ..tasks.transduction.space import (
    PADDING,
    UNSEEN,
    References,
    TransductionPosition,
)
from .rules import Rules
from .space import HuggingFaceSpace

NO_LABEL = -100
"""What fills up labels, and stands where nothing is to be learned."""


@dataclass(frozen=True)
class TokenTargets:
    """References in token ids, numbered as the oracles of transduction number actions.

    There the action 0 ends an output. Here several tokens may; so the token with the id t is the
    action t + 1, and what a token costs that ends the output is what 0 costs.
    """

    actions: int
    limits: Int[Tensor, " batch"]
    references: References

    @classmethod
    def of(
        cls, labels: Int[Tensor, "batch *refs length"], space: HuggingFaceSpace
    ) -> "TokenTargets":
        """Read labels: a row of ids for each example, or several rows, filled up with -100.

        A reference ends before its first end token. Tokens that are never chosen (`banned`) can
        not be produced. Rows of -100 alone are no reference, unless the first one is.
        """
        several, rules = labels if labels.ndim == 3 else labels[:, None], space.rules
        ends = torch.isin(several, several.new_tensor(rules.ends))
        banned = torch.isin(several, several.new_tensor(rules.banned))
        inside = ((several == NO_LABEL) | ends).cumsum(dim=-1) == 0
        tokens = torch.where(banned, UNSEEN, several + 1).where(inside, PADDING)
        there = (several != NO_LABEL).any(dim=-1)
        there[:, 0] = True
        references = References(tokens, inside.sum(dim=-1), there)
        return cls(space.rules.vocabulary + 1, space.limits, references)


@final
class TokenOracle(Oracle):
    """Completion costs of token ids by an oracle of transduction.

    As exact as that oracle, but for rules that force a token: there, c* may be higher.
    """

    def __init__(self, inner: Oracle, rules: Rules) -> None:
        if not rules.ends:
            raise ValueError(
                "Costs need a token that ends an output, but the model has none; set "
                "`model.generation_config.eos_token_id`."
            )
        self.inner, self.ends = inner, list(rules.ends)
        forced = rules.forced_first is not None or rules.forced_last is not None
        self.exact = inner.exact and not forced
        self.unique = inner.unique and not forced and len(rules.ends) == 1
        self.full, self.tolerance = inner.full, inner.tolerance

    def initial(self) -> Float[Tensor, " batch"]:
        return self.inner.initial()

    def start(self) -> Any:
        return self.inner.start()

    def costs(self, memory: Any, nodes: TransductionPosition) -> Float[Tensor, "batch k a"]:
        table = self.inner.costs(memory, nodes)
        tokens = table[..., 1:]
        tokens[..., self.ends] = table[..., :1]
        return tokens

    def advance(self, memory: Any, nodes: TransductionPosition, move: Move) -> Any:
        return self.inner.advance(memory, nodes, replace(move, actions=move.actions + 1))


@final
class TokenCosts:
    """A cost by its name, for batches of labels.

    `chrf` needs the tokenizer, to know the characters of each token. `edits` are what an insertion,
    a deletion and a substitution cost in the edit distance.
    """

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase | None = None,
        *,
        edits: Edits = (1.0, 1.0, 1.0),
    ) -> None:
        check_choice(name, COSTS, "cost")
        self.name, self.tokenizer, self.edits = name, tokenizer, edits
        self.spelling: list[list[int]] | None = None
        if name == "chrf" and tokenizer is None:
            raise ValueError(
                'The cost "chrf" needs a tokenizer, to know the characters of each token; pass it '
                "as `processing_class`."
            )

    def of(self, labels: Int[Tensor, "batch *refs length"]) -> Callable[[HuggingFaceSpace], Oracle]:
        """What makes the oracle of a space, as `HuggingFaceSpace` takes it."""

        def oracle(space: HuggingFaceSpace) -> Oracle:
            targets = TokenTargets.of(labels, space)
            spelling = partial(self._spelled, targets.actions)
            inner = oracle_of(self.name, targets, edits=self.edits, spelling=spelling)
            return TokenOracle(inner, space.rules)

        return oracle

    def _spelled(self, actions: int) -> list[list[int]]:
        """The characters of every token in numbers, as `ChrfOracle` takes them."""
        if self.spelling is None:
            assert self.tokenizer is not None  # checked above
            known = min(len(self.tokenizer), actions - 1)
            tokens = [[token] for token in range(known)]
            texts = self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
            self.spelling = [[], *numbered(texts), *[[] for _ in range(actions - 1 - known)]]
        return self.spelling
