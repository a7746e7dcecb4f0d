"""Beam search with a Hugging Face model in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedModel

from ..search.beam_search import SearchResult
from ..search.pooled_search import EarlyStopping, pooled_search
from .modes import evaluating
from .padding import as_tensors
from .reading import flush_right
from .rules import plain_rules_of, rules_of, settings_of
from .scorer import HuggingFaceScorer
from .space import HuggingFaceSpace


@dataclass(frozen=True)
class Generated:
    """What a search with a model found, in the form in which `generate` returns it."""

    sequences: Int[Tensor, "batch k length"]
    """Token ids from the start token or the prompt on, best first; padding after the end."""
    scores: Float[Tensor, "batch k"]
    """The log-probability of each, divided by its length to the power of the penalty."""
    result: SearchResult
    """The search itself: n-best lists with probabilities, step scores and the beams."""


def beam_search(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "batch symbols"] | Sequence[Sequence[int]],
    attention_mask: Int[Tensor, "batch symbols"] | Sequence[Sequence[int]] | None = None,
    *,
    width: int,
    length_penalty: float | None = None,
    early_stopping: EarlyStopping | None = None,
    max_new_tokens: int | None = None,
) -> Generated:
    """Find what `model.generate(num_beams=width, do_sample=False)` finds.

    `model` is an encoder-decoder, whose sources are given, or a causal model, whose prompts are;
    these may be padded on either side. `input_ids` (and `attention_mask`, if given) are tensors,
    or lists of token ids of any lengths as a tokenizer returns them, which are padded here:
    `beam_search(model, **tokenizer(texts), width=4)` works. The mode of the model (training or
    evaluation) stays as it is.

    `sequences.flatten(0, 1)` and `scores.flatten()` are what `generate` returns with
    `num_return_sequences=width`. What is None comes from the model's generation config, or else
    from the defaults of `generate`: `length_penalty=1.0`, `early_stopping=False` and 20 new
    tokens. What the config asks for and this search does not do is refused (`rules_of`).

    The two differ by design in this:

    - Ties: equal scores go to the smaller slot, then the smaller token id, and in the pool to
      what ended first, on every device; `generate` leaves them to `torch.topk`. Scores agree up
      to rounding, and so does the order of hypotheses that are closer than that.
    - Padding: the padding token fills up sequences; `generate` takes the first end token where
      the padding token has the number 0, as in T5.
    - Without `attention_mask`, padding tokens are not read here; `generate` may read some of
      them, which depends on its version.
    - With width 1, `generate` is greedy and ignores `length_penalty` and `early_stopping`; here
      both count. The outputs are the same but for "never" with a positive penalty.
    - Where fewer than `width` hypotheses exist (fewer tokens than `width`, one or two steps),
      `generate` fills up with copies that have scores near -1e9; here `result.nbest_mask` and
      `nbest` show what exists.

    >>> import torch
    >>> from transformers import T5Config, T5ForConditionalGeneration
    >>> sizes = dict(d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, vocab_size=12)
    >>> model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0))
    >>> sources = torch.tensor([[5, 7, 3, 1], [4, 1, 0, 0]])
    >>> found = beam_search(model, sources, width=3, max_new_tokens=5)
    >>> found.sequences.shape, found.scores.shape
    (torch.Size([2, 3, 6]), torch.Size([2, 3]))
    >>> again = beam_search(model, [[5, 7, 3, 1], [4, 1]], width=3, max_new_tokens=5)
    >>> torch.equal(again.sequences, found.sequences)
    True
    """
    config = settings_of(model)
    if length_penalty is None:
        length_penalty = 1.0 if config.length_penalty is None else config.length_penalty
    if early_stopping is None:
        early_stopping = config.early_stopping or False
    padding = plain_rules_of(model, 1).padding
    input_ids, attention_mask = as_tensors(input_ids, attention_mask, padding, model.device)
    rules = rules_of(model, max_new_tokens, prompt=input_ids.shape[-1])
    space = HuggingFaceSpace(input_ids, attention_mask, rules)
    with evaluating(model):
        scorer = HuggingFaceScorer(model, length_power=length_penalty)
        result = pooled_search(space, scorer, width, early_stopping=early_stopping)
    return Generated(_sequences(result, space), result.nbest_scores, result)


def _sequences(result: SearchResult, space: HuggingFaceSpace) -> Int[Tensor, "batch k length"]:
    """The start token or the prompt, then the actions of all hypotheses."""
    actions = result.trace.best_actions(result.nbest_scores.shape[1])
    taken = actions >= 0
    longest = int(taken.sum(dim=-1).max()) if len(result) else 0
    tokens = actions.masked_fill(~taken, space.rules.padding)[..., :longest]
    if space.rules.start is not None:
        return pad(tokens, (1, 0), value=space.rules.start)
    prompts, there = flush_right(space.input_ids, space.attention_mask)
    prompts = prompts.masked_fill(there == 0, space.rules.padding)
    return torch.cat([prompts[:, None].expand(-1, tokens.shape[1], -1), tokens], dim=-1)
