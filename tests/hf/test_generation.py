"""The search as a part of `generate`."""

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import make, sources, tiny
from transformers import (
    GenerationMixin,
    StoppingCriteria,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.generation.utils import (
    GenerateBeamDecoderOnlyOutput,
    GenerateBeamEncoderDecoderOutput,
)

from beamlearn import hf

LIMIT = 9
KINDS = ("t5", "bart", "gpt2", "llama")


class AfterFive(StoppingCriteria):
    def __call__(self, input_ids, scores, **kwargs):
        return input_ids[:, -1] == 5


def allowed(example, tokens):
    return [1, 5 + example, 9, 10, 11]


def generate(model, ours, **settings):
    ids, mask = sources(model)
    options = {"num_beams": 3, "max_new_tokens": LIMIT, "do_sample": False, **settings}
    plugged = {"custom_generate": hf.generate} if ours else {}
    return model.generate(ids, attention_mask=mask, **options, **plugged)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_return_sequences": 3, "length_penalty": 0.0, "early_stopping": True},
        {"num_return_sequences": 2, "repetition_penalty": 1.5, "early_stopping": "never"},
        {"num_return_sequences": 3, "stopping_criteria": [AfterFive()], "min_new_tokens": 3},
        {"num_return_sequences": 3, "prefix_allowed_tokens_fn": allowed, "num_beams": 4},
        {"num_beams": 1},
    ],
    ids=["plain", "all", "processors", "criteria", "prefixes", "greedy"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_it_returns_what_generate_returns(kind, settings):
    model = tiny(kind)
    assert torch.equal(generate(model, True, **settings), generate(model, False, **settings))


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 1.7])
@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_outputs_are_objects_of_generate_and_more(kind, length_penalty):
    settings = {
        "num_return_sequences": 2,
        "length_penalty": length_penalty,
        "return_dict_in_generate": True,
        "output_scores": True,
        "no_repeat_ngram_size": 2,
    }
    model = tiny(kind)
    found, theirs = generate(model, True, **settings), generate(model, False, **settings)
    usual = {"t5": GenerateBeamEncoderDecoderOutput, "gpt2": GenerateBeamDecoderOnlyOutput}
    assert isinstance(found, usual[kind])
    assert torch.equal(found.sequences, theirs.sequences)
    assert torch.equal(found["sequences"], found[0])
    torch.testing.assert_close(found.sequences_scores, theirs.sequences_scores, atol=1e-4, rtol=0)
    prompt = theirs.sequences.shape[1] - theirs.beam_indices.shape[1]
    steps = model.compute_transition_scores(theirs.sequences, theirs.scores, theirs.beam_indices)
    torch.testing.assert_close(found.token_scores, steps, atol=1e-4, rtol=0)
    lengths = (theirs.beam_indices >= 0).sum(dim=-1)
    sums = found.token_scores.sum(dim=-1) / lengths**length_penalty
    torch.testing.assert_close(sums, found.sequences_scores, atol=1e-4, rtol=0)
    for example, nbest in enumerate(found.result.nbest):
        assert len(nbest) == 3
        assert sum(h.probability for h in nbest) == pytest.approx(1)
        for place, hypothesis in enumerate(nbest[:2]):
            row = found.sequences[2 * example + place, prompt:].tolist()
            assert row[: len(hypothesis.output)] == hypothesis.output
            assert sum(hypothesis.step_scores) == pytest.approx(hypothesis.score)


def test_without_scores_there_are_none():
    found = generate(tiny("t5"), True, return_dict_in_generate=True)
    assert found.sequences_scores is None
    assert found.token_scores is None
    assert "result" in found


def test_fewer_outputs_than_asked_for():
    model = tiny("t5")
    settings = {
        "prefix_allowed_tokens_fn": lambda example, tokens: [[6], [7, 1], [1]][len(tokens) - 1],
        "num_return_sequences": 3,
        "return_dict_in_generate": True,
        "output_scores": True,
    }
    found = generate(model, True, **settings)
    assert found.sequences.tolist()[:3] == [
        *sorted([[0, 6, 7, 1], [0, 6, 1, 1]], key=lambda row: row != found.sequences[0].tolist()),
        [0, 1, 1, 1],
    ]
    assert (found.sequences_scores.view(-1, 3)[:, 2] == -1e9).all()
    assert (found.token_scores.view(4, 3, -1)[:, 2] == 0).all()


def test_phrases_are_passed_on():
    found = generate(tiny("gpt2"), True, must_contain=[[5, 6]], return_dict_in_generate=True)
    assert all("5, 6" in str(h.output) for nbest in found.result.nbest for h in nbest)


def test_the_mode_of_the_model_stays():
    model = make("bart").train()
    generate(model, True)
    assert model.training
    assert all(part.training for part in model.modules())


def test_sound_is_heard():
    """Whatever an encoder reads, and a decoder prompt as of Whisper."""
    sizes = {"d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_mel_bins": 4}
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}
    none = {"suppress_tokens": None, "begin_suppress_tokens": None}
    most = {"max_source_positions": 10, "max_target_positions": 30, "vocab_size": 40}
    torch.manual_seed(0)
    model = WhisperForConditionalGeneration(
        WhisperConfig(**sizes, **layers, **heads, **special, **none, **most, init_std=0.5)
    ).eval()
    options = {"num_beams": 3, "max_new_tokens": 6, "num_return_sequences": 3}
    prompts = torch.tensor([[3, 10, 11], [3, 12, 13]])
    one, two = (
        GenerationMixin.generate(
            model, torch.randn(2, 4, 20, generator=torch.Generator().manual_seed(1)), **options,
            do_sample=False, decoder_input_ids=prompts, repetition_penalty=1.3, **plugged,
        )
        for plugged in ({}, {"custom_generate": hf.generate})
    )  # fmt: skip
    assert torch.equal(one, two)
    assert torch.equal(two[::3, :3], prompts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"do_sample": True}, "do_sample=True, which is refused: .* pass do_sample=False"),
        ({"output_attentions": True}, "output_attentions=True, which is refused"),
        ({"inputs_embeds": torch.zeros(4, 7, 16)}, "the caller also passes inputs_embeds"),
    ],
)
def test_what_cannot_be_returned_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        generate(tiny("gpt2"), True, **settings)
