"""Diverse beam search: groups of hypotheses that avoid each other's tokens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, PreTrainedModel

from ..search.beam_search import SearchResult
from ..search.pooled_search import EarlyStopping
from .ask_generate import ask_generate
from .modes import evaluating
from .search import Generated, generated, search


@final
class OthersTokens(LogitsProcessor):
    """Make tokens cost more that hypotheses of earlier groups took at the same place."""

    def __init__(
        self, taken: Sequence[Int[Tensor, "batch _"]], prompt: int, penalty: float
    ) -> None:
        self.taken, self.prompt, self.penalty = taken, prompt, penalty
        """`taken` has the tokens of each step; -1: none."""

    def __call__(
        self, input_ids: Int[Tensor, "rows length"], scores: Float[Tensor, "rows a"]
    ) -> Float[Tensor, "rows a"]:
        step = input_ids.shape[1] - self.prompt
        if step >= len(self.taken):
            return scores
        tokens, (rows, actions) = self.taken[step], scores.shape
        counts = scores.new_zeros(len(tokens), actions + 1)
        tokens = tokens.masked_fill(tokens < 0, actions)
        counts.scatter_add_(1, tokens, torch.ones_like(tokens, dtype=counts.dtype))
        times = counts[:, :actions].repeat_interleave(rows // len(tokens), dim=0)
        return scores - self.penalty * times


def diverse_beam_search(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "batch symbols"] | Sequence[Sequence[int]],
    attention_mask: Int[Tensor, "batch symbols"] | Sequence[Sequence[int]] | None = None,
    *,
    width: int,
    groups: int,
    diversity_penalty: float,
    length_penalty: float | None = None,
    early_stopping: EarlyStopping | None = None,
    must_contain: Sequence[Sequence[int]] | None = None,
    **settings: Any,
) -> list[Generated]:
    """Search with `groups` beams of `width` hypotheses each, one after another.

    The score of a token is lower by `diversity_penalty` for each hypothesis that took it at the
    same step and ran on, in the beam of an earlier group (Vijayakumar et al. 2018, with Hamming
    diversity). A group depends on earlier ones only; so the first one is `beam_search`, and each
    is returned as that returns it. All other arguments are those of `beam_search`; processors
    get log-probabilities, also if `width` is 1.

    >>> import torch
    >>> from transformers import T5Config, T5ForConditionalGeneration
    >>> sizes = dict(d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, vocab_size=12)
    >>> model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0))
    >>> sources = torch.tensor([[5, 7, 3, 1], [4, 1, 0, 0]])
    >>> found = diverse_beam_search(
    ...     model, sources, width=1, groups=3, diversity_penalty=100.0, min_length=6, max_length=6
    ... )
    >>> firsts = [[group.result.nbest[row][0].output[0] for group in found] for row in (0, 1)]
    >>> [len(set(tokens)) for tokens in firsts]
    [3, 3]
    """
    if groups < 1:
        raise ValueError(f"`groups` must be at least 1, got {groups}.")
    if not diversity_penalty >= 0:
        raise ValueError(f"`diversity_penalty` must be at least 0, got {diversity_penalty}.")
    named = ("max_new_tokens", "logits_processor", "stopping_criteria", "tokenizer")
    usual = {name: settings.pop(name, None) for name in named}
    found: list[Generated] = []
    with evaluating(model):
        ready = ask_generate(model, input_ids, attention_mask, by_rules=False, **usual, **settings)
        prompt, own = ready.space.input_ids.shape[1], [*ready.processors]
        for _ in range(groups):
            earlier = [
                OthersTokens(taken(group.result), prompt, diversity_penalty) for group in found
            ]
            now = replace(ready, processors=LogitsProcessorList([*own, *earlier]))
            result = search(now, width, length_penalty, early_stopping, must_contain, greedy=False)
            found.append(generated(now, result))
    return found


def taken(result: SearchResult) -> list[Int[Tensor, "batch _"]]:
    """The tokens by which hypotheses grew that ran on, step by step; -1: none."""
    steps = []
    for step in result.trace.steps:
        ran = step.kept & ~step.stays & ~step.finished & ~step.ended[:, None]
        tokens = step.actions.new_full((len(result), step.actions.shape[1]), -1)
        tokens[step.examples] = step.actions.masked_fill(~ran, -1)
        steps.append(tokens)
    return steps
