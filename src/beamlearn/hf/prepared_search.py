"""What `generate` of transformers prepares for a search, and what of it a search cannot do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import (
    EosTokenCriteria,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    GenerationConfig,
    LogitNormalization,
    LogitsProcessorList,
    MaxLengthCriteria,
    NoBadWordsLogitsProcessor,
    PreTrainedModel,
    StoppingCriteriaList,
    SuppressTokensLogitsProcessor,
)

from .refusals import refuse_inputs, refuse_processors, refuse_settings
from .rules import beyond_rules, plain_rules, with_tokens_of
from .space import Encoded, HuggingFaceSpace

COVERED_BY_RULES: dict[type, Callable[[Any, GenerationConfig], bool]] = {
    ForcedBOSTokenLogitsProcessor: lambda p, config: p.bos_token_id == config.forced_bos_token_id,
    ForcedEOSTokenLogitsProcessor: lambda p, config: (
        p.eos_token_id.tolist() == [config.forced_eos_token_id]
        and p.max_length == config.max_length
    ),
    NoBadWordsLogitsProcessor: lambda p, config: p.bad_word_ids == config.bad_words_ids,
    SuppressTokensLogitsProcessor: lambda p, config: (
        p.suppress_tokens.tolist() == config.suppress_tokens
    ),
    LogitNormalization: lambda *_: True,
}
"""Processors that do what rules say, where the config asks for the same."""


@dataclass(frozen=True)
class PreparedSearch:
    """A search as `generate` prepares it, each example once."""

    model: PreTrainedModel
    space: HuggingFaceSpace
    config: GenerationConfig
    processors: LogitsProcessorList
    """What the rules of the space do not say."""
    criteria: StoppingCriteriaList
    """Why an output ends besides its limit and end tokens."""

    @property
    def plain(self) -> bool:
        """Is there nothing that needs to know the tokens of a hypothesis?"""
        return not self.processors and not self.criteria


def prepare_search(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "rows length"],
    processors: LogitsProcessorList,
    criteria: StoppingCriteriaList,
    config: GenerationConfig,
    inputs: Mapping[str, Any],
    *,
    copies: int = 1,
    by_rules: bool = True,
) -> PreparedSearch:
    """Read what `generate` hands over to a custom search; it has `copies` rows per example.

    `by_rules` leaves to the rules of the space what these can say, which is faster. Then the
    tokens that they allow share all of the probability.
    """
    refuse_settings(config)
    refuse_processors(processors)
    refuse_inputs(inputs, _known(model))
    prompts = input_ids[::copies]
    length = prompts.shape[1]
    assert config.max_length is not None  # `generate` sets it
    rules = plain_rules(model, config, config.max_length - length, None)
    if not any(_ends_as_rules(c, config) for c in criteria if type(c) is EosTokenCriteria):
        rules = replace(rules, ends=())  # the caller's own end tokens take their place
    if by_rules and beyond_rules(config) is None and all(_said(p, config) for p in processors):
        rules, processors = with_tokens_of(config, rules, length), LogitsProcessorList()
    mask, encoded = inputs.get("attention_mask"), None
    mask = None if mask is None else mask[::copies]
    if model.config.is_encoder_decoder:
        encoded, mask = Encoded(inputs["encoder_outputs"][0][::copies], mask), None
    mask = torch.ones_like(prompts) if mask is None else mask
    space = HuggingFaceSpace(prompts, mask, rules, encoded=encoded)
    others = StoppingCriteriaList([c for c in criteria if not _ends_as_rules(c, config)])
    return PreparedSearch(model, space, config, processors, others)


def _said(processor: Any, config: GenerationConfig) -> bool:
    says = COVERED_BY_RULES.get(type(processor))
    return says is not None and says(processor, config)


def _ends_as_rules(criterion: Any, config: GenerationConfig) -> bool:
    if type(criterion) is MaxLengthCriteria:
        return bool(criterion.max_length == config.max_length)
    ends = config.eos_token_id
    ends = [ends] if isinstance(ends, int) else ends
    return type(criterion) is EosTokenCriteria and bool(criterion.eos_token_id.tolist() == ends)


def _known(model: PreTrainedModel) -> set[str]:
    """The inputs that are used, or that the encoder has used already."""
    known = {"attention_mask", "position_ids", "past_key_values", "use_cache", "logits_to_keep"}
    if model.config.is_encoder_decoder:
        encoder = model.get_encoder()
        known |= {"encoder_outputs", *signature(encoder.forward).parameters}
    return known
