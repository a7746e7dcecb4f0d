"""What keeps `generate` of the package transformers to the ids of a trie."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..check import UsageError
from .trie import Children, Trie


def ending_token(own: int | None, given: int | None) -> int:
    """The token that ends an output: the one of the ids themselves, or one that is given."""
    if own is None and given is None:
        raise UsageError(
            "`end` must be the token that comes after a complete id, such as `eos_token_id`, got "
            "none; give it here, or where the index is made."
        )
    if own is not None and given not in (None, own):
        raise UsageError(
            f"`end` must be {own}, with which all ids of the index end, got {given}; leave it out."
        )
    found = given if own is None else own
    assert found is not None  # one of them is given
    return found


def allowed(trie: Trie, written: Int[Tensor, "rows steps"]) -> Children:
    """What may follow each prefix; nothing where an id is complete, or where there is none."""
    nodes = trie.walk(written)
    found = trie.children(nodes.clamp(min=0))
    return Children(found.nodes, found.tokens, found.legal & (nodes >= 0)[:, None])


@final
@dataclass(frozen=True)
class TrieConstraint:
    """A logits processor: the scores of tokens that lead out of the trie become -inf.

    After a complete id, only `end` is left. Nothing is remembered between calls.
    """

    trie: Trie
    end: int
    prompt_length: int

    def __call__(
        self, input_ids: Int[Tensor, "rows length"], scores: Float[Tensor, "rows vocabulary"]
    ) -> Float[Tensor, "rows vocabulary"]:
        """The scores of what may come next."""
        found = allowed(self.trie, input_ids[:, self.prompt_length :])
        over = ~found.legal.any(dim=-1, keepdim=True)
        first = torch.where(over, self.end, found.tokens[:, :1])
        tokens = torch.where(found.legal, found.tokens, first)
        kept = torch.full_like(scores, -torch.inf)
        return kept.scatter_(1, tokens, scores.gather(1, tokens))


@final
@dataclass(frozen=True)
class AllowedTokens:
    """A `prefix_allowed_tokens_fn`: the tokens that may follow one prefix, as a list."""

    trie: Trie
    end: int
    prompt_length: int

    def __call__(self, batch_id: int, input_ids: Int[Tensor, " length"]) -> list[int]:
        """What may come next; `batch_id` does not matter, as all inputs have the same catalogue."""
        found = allowed(self.trie, input_ids[None, self.prompt_length :])
        return found.tokens[found.legal].tolist() or [self.end]
