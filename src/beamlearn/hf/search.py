"""Beam search with a Hugging Face model in one call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import (
    LogitsProcessor,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteria,
)

from ..check import UsageError
from ..search.beam_search import SearchResult
from ..search.constrained_space import restricted
from ..search.constraint import Constraint
from ..search.pooled_search import EarlyStopping, pooled_search
from .ask_generate import ask_generate
from .modes import evaluating
from .phrases import Phrases
from .prepared_search import PreparedSearch
from .processed_scorer import ProcessedScorer
from .scorer import HuggingFaceScorer
from .written_space import Stopping, WrittenSpace


@dataclass(frozen=True)
class Generated:
    """What a search with a model found, in the form in which `generate` returns it."""

    sequences: Int[Tensor, "batch k length"]
    """Token ids from the start token or the prompt on, best first; padding after the end."""
    scores: Float[Tensor, "batch k"]
    """The log-probability of each, divided by its length to the power of the penalty.

    What processors add is part of it. -inf where fewer than k outputs were found.
    """
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
    decoder_input_ids: Int[Tensor, "batch prompt"] | None = None,
    logits_processor: Sequence[LogitsProcessor] | None = None,
    stopping_criteria: Sequence[StoppingCriteria] | None = None,
    prefix_allowed_tokens_fn: Callable[[int, Tensor], list[int]] | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    must_contain: Sequence[Sequence[int]] | None = None,
    constraint: Constraint | None = None,
    **settings: Any,
) -> Generated:
    """Find what `model.generate(num_beams=width, do_sample=False)` finds.

    `model` is an encoder-decoder, whose sources are given, or a causal model, whose prompts are;
    these may be padded on either side. `input_ids` (and `attention_mask`, if given) are tensors,
    or lists of token ids of any lengths as a tokenizer returns them, which are padded here:
    `beam_search(model, **tokenizer(texts), width=4)` works. The mode of the model (training or
    evaluation) stays as it is.

    `sequences.flatten(0, 1)` and `scores.flatten()` are what `generate` returns with
    `num_return_sequences=width`. Everything else is as there, too: `settings` are those of a
    generation config (`repetition_penalty=1.2`, `no_repeat_ngram_size=3`, `min_new_tokens=5`);
    processors and stopping criteria of transformers or of your own are called with the rows that
    `generate` calls them with; `decoder_input_ids` is what a decoder reads first. `stop_strings`
    needs the `tokenizer`. What is None comes from the model's generation config, or else from the
    defaults of `generate`: `length_penalty=1.0`, `early_stopping=False` and 20 new tokens.
    Settings of sampling mean nothing to a search. The few that a search cannot do are refused,
    and the message says why.

    With `must_contain`, phrases of token ids, every output contains all of them. The beam then
    has `width` hypotheses for each number of tokens that they still lack. With a `constraint` over
    token ids, such as `hf.TokenTexts` makes from patterns, every output is one that it allows, up
    to an end token within the limit. Log-probabilities stay those of the model.

    The two differ by design in this:

    - Ties: equal scores go to the smaller slot, then the smaller token id, and in the pool to
      what ended first, on every device; `generate` leaves them to `torch.topk`. Scores agree up
      to rounding, and so does the order of hypotheses that are closer than that.
    - Padding: the padding token fills up sequences; `generate` takes the first end token where
      the padding token has the number 0, as in T5.
    - Without `attention_mask`, padding tokens are not read here; `generate` may read some of
      them, which depends on its version.
    - With width 1, `generate` is greedy and ignores `length_penalty` and `early_stopping`; here
      both count. The outputs are the same but for "never" with a positive penalty. Processors
      then get logits, as there, in place of log-probabilities.
    - Where fewer than `width` hypotheses exist (few tokens are allowed, one or two steps),
      `generate` fills up with copies that have scores near -1e9; here `result.nbest_mask` and
      `nbest` show what exists. If processors leave no output at all, that is an error.

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
    >>> found = beam_search(model, sources, width=3, max_new_tokens=5, no_repeat_ngram_size=1)
    >>> all(len(set(h.output)) == len(h.output) for row in found.result.nbest for h in row)
    True
    >>> found = beam_search(model, sources, width=3, max_new_tokens=5, must_contain=[[8, 9]])
    >>> all("8, 9" in str(h.output) for row in found.result.nbest for h in row)
    True
    """
    if decoder_input_ids is not None:
        settings["decoder_input_ids"] = decoder_input_ids
    with evaluating(model):
        ready = ask_generate(
            model,
            input_ids,
            attention_mask,
            by_rules=must_contain is None and constraint is None,
            max_new_tokens=max_new_tokens,
            logits_processor=logits_processor,
            stopping_criteria=stopping_criteria,
            prefix_allowed_tokens_fn=prefix_allowed_tokens_fn,
            tokenizer=tokenizer,
            **settings,
        )
        result = search(
            ready, width, length_penalty, early_stopping, must_contain, constraint=constraint
        )
    return generated(ready, result)


def search(
    ready: PreparedSearch,
    width: int,
    length_penalty: float | None = None,
    early_stopping: EarlyStopping | None = None,
    must_contain: Sequence[Sequence[int]] | None = None,
    *,
    greedy: bool | None = None,
    constraint: Constraint | None = None,
) -> SearchResult:
    """Search what was prepared; what is None is as its config says.

    A search is `greedy`, as `generate` means it, if it has one hypothesis and nothing else to heed.
    """
    config, space = ready.config, ready.space
    if length_penalty is None:
        length_penalty = 1.0 if config.length_penalty is None else config.length_penalty
    if early_stopping is None:
        early_stopping = config.early_stopping or False
    scorer = HuggingFaceScorer(ready.model, length_power=length_penalty)
    if constraint is not None:
        _check_alone(ready, must_contain)
    if ready.plain and must_contain is None and constraint is None:
        return pooled_search(space, scorer, width, early_stopping=early_stopping)
    if greedy is None:
        greedy = width == 1 and must_contain is None
    phrases = None if must_contain is None else _phrases(ready, must_contain)
    written = WrittenSpace(space, phrases)
    return pooled_search(
        restricted(written, constraint),
        ProcessedScorer(scorer, ready.processors, width, len(space), greedy=greedy),
        width,
        early_stopping=early_stopping,
        stops=Stopping(ready.criteria) if ready.criteria else None,
        parts=None if phrases is None else written.parts,
    )


def generated(ready: PreparedSearch, result: SearchResult) -> Generated:
    """The prompt or what the decoder read first, then the actions of all hypotheses."""
    space, padding = ready.space, ready.space.rules.padding
    actions = result.trace.best_actions(result.nbest_scores.shape[1])
    taken = actions >= 0
    longest = int(taken.sum(dim=-1).max()) if len(result) else 0
    tokens = actions.masked_fill(~taken, padding)[..., :longest]
    prompts = space.input_ids.masked_fill(space.attention_mask == 0, padding)
    prompts = prompts[:, None].expand(-1, tokens.shape[1], -1)
    scores = result.nbest_scores.masked_fill(~result.nbest_mask, -torch.inf)
    return Generated(torch.cat([prompts, tokens], dim=-1), scores, result)


def _check_alone(ready: PreparedSearch, must_contain: Sequence[Sequence[int]] | None) -> None:
    """Refuse what would end outputs that the constraint does not allow, or leave none."""
    if ready.criteria or must_contain is not None:
        other = "stopping criteria" if ready.criteria else "`must_contain`"
        raise UsageError(
            f"`constraint` alone must decide what an output has and where it ends, got {other}, "
            "too; leave one of them out."
        )


def _phrases(ready: PreparedSearch, must_contain: Sequence[Sequence[int]]) -> Phrases:
    config, space = ready.config, ready.space
    first = config.forced_bos_token_id is not None and space.input_ids.shape[1] == 1
    return Phrases(
        must_contain,
        space.rules,
        space.input_ids.device,
        first_forced=first,
        last_forced=config.forced_eos_token_id is not None,
    )
