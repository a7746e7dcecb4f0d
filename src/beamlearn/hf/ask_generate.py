"""Let `generate` of transformers prepare a search: settings, processors, criteria and inputs."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from jaxtyping import Int
from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
    StopStringCriteria,
)

from .padding import Lists, as_tensors
from .prepared_search import PreparedSearch, prepare_search
from .reading import flush_right
from .rules import DEFAULT_NEW_TOKENS, plain_rules_of, settings_of
from .space import HuggingFaceSpace

LIMITS = ("max_new_tokens", "max_length")

NOT_TAKEN = {
    "num_beams": "it is `width` here",
    "num_return_sequences": "all `width` hypotheses are returned; take the first of them",
    "custom_generate": "this is one already",
}
"""Arguments of `generate` that a search does not take, and why."""


def ask_generate(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "batch symbols"] | Lists,
    attention_mask: Int[Tensor, "batch symbols"] | Lists | None,
    *,
    by_rules: bool,
    max_new_tokens: int | None,
    logits_processor: Sequence[Any] | None,
    stopping_criteria: Sequence[Any] | None,
    tokenizer: PreTrainedTokenizerBase | None,
    **settings: Any,
) -> PreparedSearch:
    """What `generate` would search with; each example is there once."""
    for name, reason in NOT_TAKEN.items():
        if name in settings:
            raise ValueError(f"`{name}` is no setting of this search: {reason}.")
    ids, mask = _inputs(model, input_ids, attention_mask)
    settings |= _limit(model, max_new_tokens, settings)
    criteria = [*(stopping_criteria or [])]
    if strings := settings.get("stop_strings", settings_of(model).stop_strings):
        # `generate` does not hand its tokenizer to custom searches, and would complain.
        criteria.append(_stop_strings(strings, tokenizer))
        settings["stop_strings"] = None

    def take(
        model: PreTrainedModel,
        input_ids: Tensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: GenerationConfig,
        **inputs: Any,
    ) -> PreparedSearch:
        parts = (logits_processor, stopping_criteria, generation_config, inputs)
        return prepare_search(model, input_ids, *parts, by_rules=by_rules)

    found: Any = model.generate(  # type: ignore[operator]  # theirs to type
        input_ids=ids,
        attention_mask=mask,
        logits_processor=LogitsProcessorList(logits_processor or []),
        stopping_criteria=StoppingCriteriaList(criteria),
        custom_generate=take,
        # One row per example is enough here: a search makes its own.
        **{"do_sample": False, **settings, "num_beams": 1, "num_return_sequences": 1},
    )
    return cast(PreparedSearch, found)


def _inputs(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "batch symbols"] | Lists,
    attention_mask: Int[Tensor, "batch symbols"] | Lists | None,
) -> tuple[Int[Tensor, "batch tokens"], Int[Tensor, "batch tokens"]]:
    """Sources or prompts and their mask; prompts end in line, as `generate` needs them."""
    rules = plain_rules_of(model, 1)
    ids, mask = as_tensors(input_ids, attention_mask, rules.padding, model.device)
    space = HuggingFaceSpace(ids, mask, rules)  # which knows what is padding
    if model.config.is_encoder_decoder:
        return ids, space.attention_mask
    return flush_right(ids, space.attention_mask)


def _limit(
    model: PreTrainedModel, max_new_tokens: int | None, settings: Mapping[str, Any]
) -> dict[str, int]:
    """The limit to pass on, if any: `generate` would warn where nothing sets one."""
    if max_new_tokens is not None:
        if max_new_tokens < 1:
            raise ValueError(f"`max_new_tokens` must be at least 1, got {max_new_tokens}.")
        return {"max_new_tokens": max_new_tokens}
    configs = (settings_of(model), settings.get("generation_config"))
    limits = [getattr(config, name, None) for config in configs for name in LIMITS]
    if any(limit is not None for limit in (*limits, settings.get("max_length"))):
        return {}
    return {"max_new_tokens": DEFAULT_NEW_TOKENS}


def _stop_strings(
    strings: str | list[str], tokenizer: PreTrainedTokenizerBase | None
) -> StopStringCriteria:
    if tokenizer is None:
        raise ValueError(
            "`stop_strings` needs a tokenizer, to know the text of tokens, got "
            f"{strings!r} without one; pass `tokenizer`."
        )
    return StopStringCriteria(tokenizer, strings)
