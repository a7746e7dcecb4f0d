"""What the generation settings of a Hugging Face model mean for a search."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from transformers import GenerationConfig, PreTrainedModel

DEFAULT_NEW_TOKENS = 20
"""The limit of `generate` where neither the caller nor the model sets one."""

NO_TOKEN = -1
"""What stands for padding where a model has no token for it."""

BEYOND_RULES: dict[str, tuple[Any, ...]] = {
    "begin_suppress_tokens": (),
    "constraints": (),
    "diversity_penalty": (0.0,),
    "encoder_no_repeat_ngram_size": (0,),
    "encoder_repetition_penalty": (1.0,),
    "exponential_decay_length_penalty": (),
    "force_words_ids": (),
    "guidance_scale": (1.0,),
    "max_time": (),
    "min_length": (0,),
    "min_new_tokens": (0,),
    "no_repeat_ngram_size": (0,),
    "num_beam_groups": (1,),
    "penalty_alpha": (0.0,),
    "remove_invalid_values": (False,),
    "repetition_penalty": (1.0,),
    "sequence_bias": (),
    "stop_strings": (),
    "watermarking_config": (),
}
"""Settings that rules cannot say, and values beside None at which there is nothing to say."""


@dataclass(frozen=True)
class Rules:
    """Which sequences of tokens a search may build."""

    vocabulary: int
    """How many tokens there are, which is how many numbers the model gives."""
    start: int | None
    """What a decoder reads first; no part of the output. None: it reads a prompt."""
    ends: tuple[int, ...]
    """The tokens that end an output; an empty tuple: only the limit does."""
    max_new_tokens: int
    """An output of this many tokens ends, whatever its last token is."""
    forced_first: int | None = None
    """The only first token, where there is one; it costs nothing."""
    forced_last: int | None = None
    """The only token at the limit, where there is one; it costs nothing."""
    banned: tuple[int, ...] = ()
    """Tokens that are never chosen; the others share their probability."""
    padding: int = NO_TOKEN
    """What fills outputs up to the longest."""

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ValueError(f"`max_new_tokens` must be at least 1, got {self.max_new_tokens}.")


def rules_of(
    model: PreTrainedModel, max_new_tokens: int | None = None, *, prompt: int = 1
) -> Rules:
    """Read the rules off a model and its generation config; refuse what they cannot say.

    The limit is `max_new_tokens`, or else what the config says, or else 20 as in `generate`;
    the `max_length` of a config counts the tokens of the longest `prompt`.
    Which tokens are forced and, if the config says `renormalize_logits`, which single tokens
    are ruled out (`bad_words_ids`, `suppress_tokens`) is kept to. Settings that only concern
    sampling mean nothing to a search. All others are for `hf.beam_search`.
    """
    config = settings_of(model)
    if beyond := beyond_rules(config):
        raise ValueError(
            f"The generation config of the model asks for {beyond}, which rules cannot say; "
            "search with `hf.beam_search`, which can do that, or set it to None in "
            "`model.generation_config`."
        )
    prompt = 1 if model.config.is_encoder_decoder else prompt
    plain = plain_rules_of(
        model, _limit(config, prompt) if max_new_tokens is None else max_new_tokens
    )
    return with_tokens_of(config, plain, prompt)


def with_tokens_of(config: GenerationConfig, plain: Rules, prompt: int) -> Rules:
    """Add which tokens a config forces and bans, where nothing is `beyond_rules`.

    As in `generate`, the first token is forced only after a prompt of one token.
    """
    return replace(
        plain,
        forced_first=config.forced_bos_token_id if prompt == 1 else None,
        forced_last=[*_numbers(config.forced_eos_token_id), None][0],
        banned=_banned(config, plain.ends),
    )


def plain_rules_of(model: PreTrainedModel, max_new_tokens: int) -> Rules:
    """The rules of a model by itself: any token may come next, and an end token ends an output."""
    config = settings_of(model)
    start = _start(config) if model.config.is_encoder_decoder else None
    return plain_rules(model, config, max_new_tokens, start)


def plain_rules(
    model: PreTrainedModel, config: GenerationConfig, max_new_tokens: int, start: int | None
) -> Rules:
    """The same with the special tokens of a config, which need not be the model's own."""
    ends = _numbers(config.eos_token_id)
    output = model.get_output_embeddings()  # type: ignore[no-untyped-call]  # theirs to type
    vocabulary = output.weight.shape[0]
    if beyond := [end for end in ends if not 0 <= end < vocabulary]:
        raise ValueError(
            f"An end token must be one of the {vocabulary} that the model scores, but the "
            f"generation config has eos_token_id={beyond[0]}; set it in `model.generation_config`."
        )
    return Rules(
        vocabulary=vocabulary,
        start=start,
        ends=ends,
        max_new_tokens=max_new_tokens,
        padding=[*_numbers(config.pad_token_id), *ends, NO_TOKEN][0],
    )


def settings_of(model: PreTrainedModel) -> GenerationConfig:
    """The generation config of a model that can generate."""
    if not model.can_generate():
        raise TypeError(
            "A search needs a model that can generate, such as BartForConditionalGeneration or "
            f"LlamaForCausalLM, got {type(model).__name__}."
        )
    config: GenerationConfig = model.generation_config
    return config


def beyond_rules(config: GenerationConfig) -> str | None:
    """The first setting that rules cannot say, and its value; None: there is none."""
    for name, usual in BEYOND_RULES.items():
        value = getattr(config, name, None)
        if value is not None and value not in usual:
            return f"{name}={value!r}"
    for name in ("bad_words_ids", "suppress_tokens"):
        value = getattr(config, name)
        if value and not config.renormalize_logits:
            return f"{name}={value!r} without renormalize_logits=True"
    if any(len(word) != 1 for word in config.bad_words_ids or []):
        return f"bad_words_ids={config.bad_words_ids!r} of several tokens"
    if len(_numbers(config.forced_eos_token_id)) > 1:
        return f"forced_eos_token_id={config.forced_eos_token_id!r}"
    return None


def _start(config: GenerationConfig) -> int:
    start = config.decoder_start_token_id
    start = config.bos_token_id if start is None else start
    if not isinstance(start, int):
        raise ValueError(
            "A search needs one token for the decoder to start from, but the generation config "
            f"has decoder_start_token_id={start!r}; set it in `model.generation_config`."
        )
    return start


def _limit(config: GenerationConfig, prompt: int) -> int:
    """`max_length` counts the prompt, or the token that the decoder starts from."""
    if config.max_new_tokens is not None:
        return int(config.max_new_tokens)
    return DEFAULT_NEW_TOKENS if config.max_length is None else int(config.max_length) - prompt


def _banned(config: GenerationConfig, ends: Iterable[int]) -> tuple[int, ...]:
    """Single tokens that are ruled out; as in `generate`, no bad word is an end."""
    words = {word[0] for word in config.bad_words_ids or []} - set(ends)
    return tuple(sorted(words | set(config.suppress_tokens or [])))


def _numbers(tokens: int | list[int] | None) -> tuple[int, ...]:
    return () if tokens is None else (tokens,) if isinstance(tokens, int) else tuple(tokens)
