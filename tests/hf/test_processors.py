"""Every processor and stopping criterion of transformers that works with beams."""

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, make, sources, tiny
from transformers import (
    EosTokenCriteria,
    EpsilonLogitsWarper,
    EtaLogitsWarper,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    LogitsProcessor,
    MaxLengthCriteria,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopHLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
    WatermarkingConfig,
    WhisperTimeStampLogitsProcessor,
)

from beamlearn import hf

LIMIT = 9
KINDS = ("t5", "gpt2")
SEARCHES = (
    {"width": 2, "length_penalty": 1.0, "early_stopping": False},
    {"width": 4, "length_penalty": 0.0, "early_stopping": True},
    {"width": 3, "length_penalty": 2.0, "early_stopping": "never"},
)


class FromThirdRow(LogitsProcessor):
    """Knows which example a row belongs to, by the number of rows."""

    def __call__(self, input_ids, scores):
        examples = torch.arange(4).repeat_interleave(len(scores) // 4)
        bias = torch.zeros_like(scores)
        bias[examples >= 2, 5:15] = 1.5
        return scores + bias


class TwoOf(StoppingCriteria):
    """Stop after two tokens of a kind, which may be many of the best neighbors."""

    def __call__(self, input_ids, scores, **kwargs):
        return ((input_ids[:, -2:] % 3) == 0).all(dim=-1)


def allowed(example, tokens):
    """Some tokens by the example and by what came before; never few, and always an end."""
    return [1, *range(3 + (int(tokens[-1]) + example) % 2, VOCABULARY, 2)]


CASES = {
    "repetition_penalty": {"repetition_penalty": 1.8},
    "repetition_reward": {"repetition_penalty": 0.7},
    "no_repeat_ngram_size": {"no_repeat_ngram_size": 2},
    "no_repeat_token": {"no_repeat_ngram_size": 1},
    "encoder_repetition_penalty": {"encoder_repetition_penalty": 1.8},
    "encoder_no_repeat_ngram_size": {"encoder_no_repeat_ngram_size": 1},
    "sequence_bias": {"sequence_bias": [[[5], -2.0], [[7, 9], 3.0], [[4], 1.0]]},
    "bad_words_ids": {"bad_words_ids": [[5], [7, 9], [1], [12, 13, 14]]},
    "bad_words_renormalized": {"bad_words_ids": [[5], [7, 9]], "renormalize_logits": True},
    "min_length": lambda prompt: {"min_length": prompt + 5},
    "min_new_tokens": {"min_new_tokens": 5},
    "forced_bos_token_id": {"forced_bos_token_id": 7, "repetition_penalty": 1.1},
    "forced_eos_token_id": {"forced_eos_token_id": 6, "repetition_penalty": 1.1},
    "remove_invalid_values": {"remove_invalid_values": True, "no_repeat_ngram_size": 1},
    "exponential_decay": {"exponential_decay_length_penalty": (2, 1.5)},
    "suppress_tokens": {"suppress_tokens": [5, 6, 7, 8, 9]},
    "suppress_renormalized": {"suppress_tokens": [5, 6, 7], "renormalize_logits": True},
    "begin_suppress_tokens": {"begin_suppress_tokens": [1, 5, 6, 7]},
    "watermark": {"watermarking_config": WatermarkingConfig(bias=1.0)},
    "prefix_allowed_tokens_fn": {"prefix_allowed_tokens_fn": allowed},
    "several_end_tokens": {"eos_token_id": [1, 5, 6, 7], "repetition_penalty": 1.2},
    "all_at_once": {
        "repetition_penalty": 1.2,
        "no_repeat_ngram_size": 2,
        "min_new_tokens": 3,
        "encoder_repetition_penalty": 0.8,
        "prefix_allowed_tokens_fn": allowed,
        "renormalize_logits": True,
    },
    "sampling_means_nothing": {"temperature": 0.5, "top_k": 3, "top_p": 0.5},
    "temperature": {"logits_processor": [TemperatureLogitsWarper(1.7)]},
    "top_k": {"logits_processor": [TopKLogitsWarper(6)]},
    "top_p": {"logits_processor": [TopPLogitsWarper(0.9)]},
    "top_h": {"logits_processor": [TopHLogitsWarper(0.9)]},
    "min_p": {"logits_processor": [MinPLogitsWarper(0.01)]},
    "typical": {"logits_processor": [TypicalLogitsWarper(0.95)]},
    "epsilon": {"logits_processor": [EpsilonLogitsWarper(0.005)]},
    "eta": {"logits_processor": [EtaLogitsWarper(0.005)]},
    "own_forced_bos": {"logits_processor": [ForcedBOSTokenLogitsProcessor(8)]},
    "own_forced_eos": lambda prompt: {
        "logits_processor": [ForcedEOSTokenLogitsProcessor(prompt + 6, 6)]
    },
    "own_in_place_of_the_setting": {
        "logits_processor": [RepetitionPenaltyLogitsProcessor(2.0)],
        "repetition_penalty": 1.1,
    },
    "by_row": {"logits_processor": [FromThirdRow()]},
    "own_max_length": lambda prompt: {"stopping_criteria": [MaxLengthCriteria(prompt + 4)]},
    "own_end_tokens": {"stopping_criteria": [EosTokenCriteria([5, 6, 7])]},
    "stopping_criteria": {"stopping_criteria": [TwoOf()]},
    "criteria_and_processors": {"stopping_criteria": [TwoOf()], "repetition_penalty": 1.3},
}


def generate(model, width, inputs=None, **settings):
    """What `generate` finds: sequences and scores `[batch, k, ...]`."""
    ids, mask = inputs or sources(model)
    found = model.generate(
        ids,
        attention_mask=mask,
        num_beams=width,
        num_return_sequences=width,
        do_sample=False,
        output_scores=True,
        return_dict_in_generate=True,
        **{"max_new_tokens": LIMIT, **settings},
    )
    return found.sequences.unflatten(0, (-1, width)), found.sequences_scores.view(-1, width)


def assert_same(model, width, inputs=None, **settings):
    theirs, scores = generate(model, width, inputs, **settings)
    found = hf.beam_search(
        model, *(inputs or sources(model)), width=width, **{"max_new_tokens": LIMIT, **settings}
    )
    prompt = found.sequences.shape[-1] - max(len(h.output) for n in found.result.nbest for h in n)
    mask = found.result.nbest_mask
    real = scores > -1e6
    assert torch.equal(mask, real)
    torch.testing.assert_close(found.scores[mask], scores[real], atol=1e-4, rtol=1e-5)
    for row, nbest in zip(theirs.tolist(), found.result.nbest, strict=True):
        for tokens, hypothesis in zip(row, nbest, strict=False):
            assert tokens[prompt : prompt + len(hypothesis.output)] == hypothesis.output
    return found


@pytest.mark.parametrize("settings", SEARCHES, ids=["k2", "k4", "k3"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_what_generate_finds(kind, case, settings):
    model, asked = tiny(kind), CASES[case]
    if callable(asked):
        asked = asked(1 if model.config.is_encoder_decoder else 7)
    assert_same(model, **settings, **asked)
