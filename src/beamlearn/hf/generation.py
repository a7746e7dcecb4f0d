"""The search of this library inside `generate` of transformers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    StoppingCriteriaList,
)
from transformers.generation.utils import (
    GenerateBeamDecoderOnlyOutput,
    GenerateBeamEncoderDecoderOutput,
)

from ..search.beam_search import SearchResult
from ..search.constraint import Constraint
from .modes import evaluating
from .prepared_search import PreparedSearch, prepare_search
from .search import search

NOWHERE = -1e9
"""The score that `generate` gives to what it did not find."""


@dataclass
class BeamEncoderDecoderOutput(GenerateBeamEncoderDecoderOutput):
    """What `generate` returns, and what a search knows besides."""

    token_scores: Float[Tensor, "rows new"] | None = None
    """What each new token of `sequences` added, 0 after the end; with `output_scores=True`.

    Their sum, divided by the length to the power of the length penalty, is `sequences_scores`.
    """
    result: SearchResult | None = None
    """The search itself: n-best lists with probabilities, step scores and the beams."""


@dataclass
class BeamDecoderOnlyOutput(GenerateBeamDecoderOnlyOutput):
    """The same for causal models."""

    token_scores: Float[Tensor, "rows new"] | None = None
    """As for encoder-decoders."""
    result: SearchResult | None = None
    """As for encoder-decoders."""


def generate(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "rows length"],
    logits_processor: LogitsProcessorList,
    stopping_criteria: StoppingCriteriaList,
    generation_config: GenerationConfig,
    must_contain: Sequence[Sequence[int]] | None = None,
    constraint: Constraint | None = None,
    **inputs: Any,
) -> Int[Tensor, "found longest"] | BeamEncoderDecoderOutput | BeamDecoderOnlyOutput:
    """Search for `model.generate(..., custom_generate=hf.generate)`, with `num_beams` as width.

    It returns what `generate` returns without it: token ids, or with
    `return_dict_in_generate=True` an output of the same class (with one beam, also that of
    beams). That one also has the `result` of the search, with n-best lists of all `num_beams`
    outputs and their probabilities, and with `output_scores=True` the `token_scores`. It has no
    `scores` of tokens that were not chosen, no `beam_indices` and no cache.

    The search is that of `hf.beam_search`, and the same settings are refused. `must_contain`
    and `constraint` may be passed to `model.generate`.

    transformers hands no tokenizer to custom searches: in place of `stop_strings`, pass
    `stopping_criteria=[StopStringCriteria(tokenizer, strings)]`.

    >>> import torch
    >>> from beamlearn import hf
    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> sizes = dict(n_embd=8, n_layer=1, n_head=2, vocab_size=12)
    >>> model = GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=1, pad_token_id=0)).eval()
    >>> prompts = torch.tensor([[5, 7, 3], [4, 8, 9]])
    >>> beams = dict(num_beams=3, max_new_tokens=4, do_sample=False)
    >>> found = model.generate(
    ...     prompts, **beams, custom_generate=hf.generate, return_dict_in_generate=True
    ... )
    >>> torch.equal(found.sequences, model.generate(prompts, **beams))
    True
    >>> [len(nbest) for nbest in found.result.nbest]
    [3, 3]
    """
    config = generation_config
    width = config.num_beams or 1
    parts = (logits_processor, stopping_criteria, config, inputs)
    with evaluating(model), torch.no_grad():
        by_rules = must_contain is None and constraint is None
        ready = prepare_search(model, input_ids, *parts, copies=width, by_rules=by_rules)
        result = search(ready, width, must_contain=must_contain, constraint=constraint)
    returned = config.num_return_sequences or 1
    sequences = _sequences(ready, result, returned)
    if not config.return_dict_in_generate:
        return sequences
    scores = token_scores = None
    if config.output_scores:
        scores = result.nbest_scores.masked_fill(~result.nbest_mask, NOWHERE)[:, :returned]
        scores, token_scores = scores.flatten(), _token_scores(ready, result, returned)
    found: dict[str, Any] = {
        "sequences": sequences,
        "sequences_scores": scores,
        "token_scores": token_scores,
        "result": result,
    }
    if model.config.is_encoder_decoder:
        return BeamEncoderDecoderOutput(**found)
    return BeamDecoderOnlyOutput(**found)


def _sequences(
    ready: PreparedSearch, result: SearchResult, returned: int
) -> Int[Tensor, "found longest"]:
    """Prompts and the first outputs of each example, filled up as `generate` does it."""
    ends, padding = ready.config.eos_token_id, ready.config.pad_token_id
    end = ends[0] if isinstance(ends, list) else ends
    filler = -1 if end is None else padding or end
    if ready.config.num_beams == 1 and padding is not None:
        filler = padding
    actions = result.trace.best_actions(returned).flatten(0, 1)
    longest = int((actions >= 0).sum(dim=-1).max())
    tokens = actions.masked_fill(actions < 0, filler)[:, :longest]
    return torch.cat([ready.space.input_ids.repeat_interleave(returned, dim=0), tokens], dim=-1)


def _token_scores(
    ready: PreparedSearch, result: SearchResult, returned: int
) -> Float[Tensor, "found new"]:
    """Undo the division by the length, and take the differences."""
    power = ready.config.length_penalty
    rows = []
    for nbest in result.nbest:
        outputs = [hypothesis.step_scores for hypothesis in nbest[:returned]]
        for steps in [*outputs, *[()] * (returned - len(outputs))]:
            means = result.nbest_scores.new_tensor(steps, dtype=torch.double).cumsum(dim=0)
            depth = torch.arange(1, len(steps) + 1, device=means.device)
            rows.append((means * depth**power).diff(prepend=means.new_zeros(1)))
    return pad_sequence(rows, batch_first=True).to(result.nbest_scores.dtype)
