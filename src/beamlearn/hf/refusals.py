"""What this search does not do for `generate`, each with its reason."""

from collections.abc import Mapping
from typing import Any

from transformers import (
    ClassifierFreeGuidanceLogitsProcessor,
    GenerationConfig,
    LogitsProcessorList,
    SynthIDTextWatermarkingConfig,
    SynthIDTextWatermarkLogitsProcessor,
    UnbatchedClassifierFreeGuidanceLogitsProcessor,
)

ROWS = "it remembers rows, and does not notice when hypotheses change their row; search without it"
REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "do_sample": ((False,), "a search draws nothing at random; pass do_sample=False"),
    "num_beam_groups": ((1,), "groups have a search of their own; use `hf.diverse_beam_search`"),
    "diversity_penalty": (
        (0.0,),
        "groups have a search of their own; use `hf.diverse_beam_search`",
    ),
    "force_words_ids": ((), "phrases are given to the search itself; pass `must_contain`"),
    "constraints": ((), "phrases are given to the search itself; pass `must_contain`"),
    "penalty_alpha": ((0.0,), "contrastive search has no beam; set it to None"),
    "dola_layers": ((), "it needs the logits of inner layers, which are not kept; set it to None"),
    "guidance_scale": ((1.0,), ROWS),
    "output_logits": ((False,), "the search keeps no logits; score the sequences afterwards"),
    "output_attentions": ((False,), "the search keeps none; read the sequences afterwards"),
    "output_hidden_states": ((False,), "the search keeps none; read the sequences afterwards"),
}
"""Settings with the values beside None that ask for nothing, and why others are refused."""
BY_ROW = (
    ClassifierFreeGuidanceLogitsProcessor,
    SynthIDTextWatermarkLogitsProcessor,
    UnbatchedClassifierFreeGuidanceLogitsProcessor,
)


def refuse_settings(config: GenerationConfig) -> None:
    """Refuse settings that ask for what a search cannot do."""
    for name, (usual, reason) in REFUSED.items():
        value = getattr(config, name, None)
        if value is not None and value not in usual:
            raise ValueError(_refusal(f"{name}={value!r}", reason))
    if isinstance(config.watermarking_config, SynthIDTextWatermarkingConfig):
        raise ValueError(_refusal("watermarking_config=SynthIDTextWatermarkingConfig", ROWS))


def refuse_processors(processors: LogitsProcessorList) -> None:
    """Refuse processors that would follow the wrong hypotheses."""
    for processor in processors:
        if isinstance(processor, BY_ROW):
            raise ValueError(_refusal(f"the processor {type(processor).__name__}", ROWS))


def refuse_inputs(inputs: Mapping[str, Any], known: set[str]) -> None:
    """Refuse what would not reach the model."""
    other = [name for name, value in inputs.items() if value is not None and name not in known]
    if other:
        raise ValueError(
            "A search gives a model tokens, their mask and encoded sources, but the caller also "
            f"passes {', '.join(other)}; leave that out, or call `model.generate`."
        )
    cache = inputs.get("past_key_values")
    if cache is not None and cache.get_seq_length() > 0:
        raise ValueError(
            "A search reads its prompts itself, but the caller passes `past_key_values` that hold "
            f"{cache.get_seq_length()} tokens; leave them out, or call `model.generate`."
        )


def _refusal(what: str, reason: str) -> str:
    return f"The caller or the generation config asks for {what}, which is refused: {reason}."
