"""Every processor and stopping criterion of transformers that works with beams."""

from itertools import cycle, product

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, generate, make, sources, tiny, tokenizer
from transformers import (
    EosTokenCriteria,
    EpsilonLogitsWarper,
    EtaLogitsWarper,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    GenerationConfig,
    LogitsProcessor,
    MaxLengthCriteria,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
    SynthIDTextWatermarkingConfig,
    TemperatureLogitsWarper,
    TopHLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
    UnbatchedClassifierFreeGuidanceLogitsProcessor,
    WatermarkingConfig,
)
from transformers.generation.logits_process import (
    AlternatingCodebooksLogitsProcessor,
    BarkEosPrioritizerLogitsProcessor,
    WhisperTimeStampLogitsProcessor,
)

from beamlearn import hf
from beamlearn.hf.ask_generate import ask_generate
from beamlearn.hf.processed_scorer import ProcessedScorer
from beamlearn.hf.written_space import WrittenSpace

LIMIT = 9
KINDS = ("t5", "gpt2")
SEARCHES = (
    {"width": 2, "length_penalty": 1.0, "early_stopping": False},
    {"width": 4, "length_penalty": 0.0, "early_stopping": True},
    {"width": 3, "length_penalty": 2.0, "early_stopping": "never"},
    {"width": 5, "length_penalty": 0.6, "early_stopping": True},
    {"width": 2, "length_penalty": -0.5, "early_stopping": "never"},
    {"width": 4, "length_penalty": 2.0, "early_stopping": False},
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


def timestamps(prompt):
    """Tokens from 21 on are times, which come in pairs."""
    config = GenerationConfig(eos_token_id=1)
    config.no_timestamps_token_id, config.max_initial_timestamp_index = 20, 5
    return WhisperTimeStampLogitsProcessor(config, begin_index=prompt)


CASES = {
    "repetition_penalty": {"repetition_penalty": 1.8},
    "repetition_reward": {"repetition_penalty": 0.7},
    "no_repeat_ngram_size": {"no_repeat_ngram_size": 2},
    "no_repeat_token": {"no_repeat_ngram_size": 1},
    "encoder_repetition_penalty": {"encoder_repetition_penalty": 1.8},
    "encoder_no_repeat_ngram_size": {
        "encoder_no_repeat_ngram_size": 1,
        "sequence_bias": [[[token], 5.0] for token in range(12, 38)],  # some of them in sources
    },
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
    "begin_suppress_tokens": {"begin_suppress_tokens": [1, 9, 20, 28, 32]},
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
    "top_k": {"logits_processor": [TopKLogitsWarper(3)]},
    "top_p": {"logits_processor": [TopPLogitsWarper(0.5, min_tokens_to_keep=3)]},
    "top_h": {"logits_processor": [TopHLogitsWarper(0.5)]},
    "min_p": {"logits_processor": [MinPLogitsWarper(0.9, min_tokens_to_keep=3)]},
    "typical": {"logits_processor": [TypicalLogitsWarper(0.5, min_tokens_to_keep=3)]},
    "epsilon": {"logits_processor": [EpsilonLogitsWarper(0.15, min_tokens_to_keep=3)]},
    "eta": {"logits_processor": [EtaLogitsWarper(0.3, min_tokens_to_keep=2)]},
    "end_priority": {"logits_processor": [BarkEosPrioritizerLogitsProcessor(1, 0.2)]},
    "codebooks": lambda prompt: {
        "logits_processor": [AlternatingCodebooksLogitsProcessor(prompt, 10, 15)]
    },
    "timestamps": lambda prompt: {"logits_processor": [timestamps(prompt)]},
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


def assert_same(model, width, inputs=None, **settings):
    theirs, scores = generate(model, width, inputs, **{"max_new_tokens": LIMIT, **settings})
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


def matrix():
    """Every case with both kinds of models and all ways to search; all but one of these are slow.

    Which one is not changes from case to case.
    """
    for row, (case, kind) in enumerate(product(CASES, KINDS)):
        for column, settings in enumerate(SEARCHES):
            marks = () if (column - row) % 6 == 0 else pytest.mark.slow
            name = "-".join([kind, case, *map(str, settings.values())])
            yield pytest.param(kind, case, settings, marks=marks, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "case", "settings"), list(matrix()))
def test_it_finds_what_generate_finds(kind, case, settings):
    model, asked = tiny(kind), CASES[case]
    if callable(asked):
        asked = asked(1 if model.config.is_encoder_decoder else 7)
    assert_same(model, **settings, **asked)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), list(zip(CASES, cycle(KINDS), strict=False)))
def test_width_one_is_greedy(kind, case):
    model, asked = tiny(kind), CASES[case]
    prompt = 1 if model.config.is_encoder_decoder else 7
    asked = asked(prompt) if callable(asked) else asked
    ids, mask = sources(model)
    options = {"max_new_tokens": LIMIT, **asked}
    theirs = model.generate(ids, attention_mask=mask, do_sample=False, **options)
    found = hf.beam_search(model, ids, mask, width=1, **options)
    assert found.sequences[:, 0].tolist() == theirs.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_cases_change_what_is_found(kind):
    """Otherwise the comparison would say little."""
    model = tiny(kind)
    prompt = 1 if model.config.is_encoder_decoder else 7

    def scores(case):
        asked = CASES[case](prompt) if callable(CASES[case]) else CASES[case]
        found = hf.beam_search(model, *sources(model), width=8, max_new_tokens=LIMIT, **asked)
        return found.scores

    plain = hf.beam_search(model, *sources(model), width=8, max_new_tokens=LIMIT).scores
    same = {case for case in CASES if torch.allclose(scores(case), plain, atol=1e-5)}
    assert same == {"sampling_means_nothing"} | ({"own_forced_bos"} if kind == "gpt2" else set())


def test_equal_scores_of_forced_ends():
    """Which of equals comes first differs; their scores do not."""
    model = tiny("t5")
    _, scores = generate(
        model, 4, forced_eos_token_id=[1, 6], length_penalty=0.0, max_new_tokens=LIMIT
    )
    found = hf.beam_search(
        model, *sources(model), width=4, max_new_tokens=LIMIT, length_penalty=0.0,
        forced_eos_token_id=[1, 6],
    )  # fmt: skip
    torch.testing.assert_close(found.scores, scores, atol=1e-4, rtol=0)
    longest = [h.output for n in found.result.nbest for h in n if len(h.output) == LIMIT]
    assert {output[-1] for output in longest} <= {1, 6}


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_the_processors(kind):
    """The same operations on the same logits: bit for bit."""
    model = tiny(kind)
    ready = ask_generate(
        model, *sources(model), by_rules=True, max_new_tokens=5, logits_processor=None,
        stopping_criteria=None, tokenizer=None, repetition_penalty=1.5, no_repeat_ngram_size=1,
    )  # fmt: skip
    space = WrittenSpace(ready.space)
    with torch.no_grad():
        inner = hf.HuggingFaceScorer(model)
        scorer = ProcessedScorer(inner, ready.processors, 3, len(space))
        nodes, memory = space.initial(), scorer.start(space)
        expected = ready.processors(nodes.tokens[:, 0], memory.logits[:, 0].log_softmax(dim=-1))
        assert torch.equal(scorer.score(memory, nodes)[:, 0], expected)


def test_without_processors_no_tokens_are_kept():
    model = make("marian")  # whose defaults rules can say
    model.generation_config.update(
        bad_words_ids=[[39]], renormalize_logits=True, forced_eos_token_id=0
    )
    plain = hf.beam_search(model, *sources(model), width=3, max_new_tokens=LIMIT)
    assert type(plain.result.trace.space) is hf.HuggingFaceSpace
    assert_same(model, 3)
    other = hf.beam_search(model, *sources(model), width=3, repetition_penalty=1.2)
    assert type(other.result.trace.space) is WrittenSpace
    assert_same(model, 3, repetition_penalty=1.2)


def test_first_tokens_are_forced_after_one_token_only():
    model = make("gpt2")
    model.generation_config.forced_bos_token_id = 7
    assert_same(model, 3)
    ids = torch.tensor([[5], [6]])
    found = assert_same(model, 3, (ids, torch.ones_like(ids)))
    assert {h.output[0] for n in found.result.nbest for h in n} == {7}


@pytest.mark.parametrize("kind", KINDS)
def test_batch_law(kind):
    """Alone, in a batch and in a reversed batch."""
    model = tiny(kind)
    ids, mask = sources(model)
    settings = {"width": 3, "max_new_tokens": LIMIT, "stopping_criteria": [TwoOf()]}
    settings |= {"repetition_penalty": 1.3, "encoder_repetition_penalty": 1.2}

    def outputs(rows):
        found = hf.beam_search(model, ids[rows], mask[rows], **settings)
        return [[h.output for h in nbest] for nbest in found.result.nbest]

    together = outputs([0, 1, 2, 3])
    assert outputs([3, 2, 1, 0]) == together[::-1]
    if kind == "t5":  # without padding, the prompt of a causal model is another one to processors
        assert [outputs([row])[0] for row in range(4)] == together


class Spy(LogitsProcessor):
    def __init__(self):
        self.rows = []

    def __call__(self, input_ids, scores):
        assert len(input_ids) == len(scores)
        self.rows.append(input_ids.tolist())
        return scores


def test_processors_see_the_rows_that_they_see_in_generate():
    model, ours, theirs = tiny("bart"), Spy(), Spy()
    generate(model, 2, logits_processor=[theirs], early_stopping=True, max_new_tokens=LIMIT)
    options = {"max_new_tokens": LIMIT, "early_stopping": True}
    found = hf.beam_search(model, *sources(model), width=2, logits_processor=[ours], **options)
    lengths = [len(rows) for rows in found.result.trace.rows]
    assert len(set(lengths)) > 1  # some examples end before others
    assert len(ours.rows) == max(lengths)
    for step, (own, other) in enumerate(zip(ours.rows, theirs.rows, strict=False)):
        assert len(own) == len(other) == 8
        for example, length in enumerate(lengths):
            if step < length:
                assert own[2 * example : 2 * example + 2] == other[2 * example : 2 * example + 2]


def test_allowed_prefixes_are_asked_for_of_running_examples_only():
    """A trie with few outputs: `generate` asks about prefixes that are not in it."""
    model = tiny("t5")
    outputs = [[5, 6, 1], [5, 7, 8, 1], [9, 1]], [[4, 1]], [[4, 6, 1], [4, 1]], [[8, 8, 8, 8, 1]]

    def next_tokens(example, tokens):
        written = tokens.tolist()[1:]
        there = [o[len(written)] for o in outputs[example] if o[: len(written)] == written]
        assert there, "a prefix that is not in the trie"
        return there

    found = hf.beam_search(
        model, *sources(model), width=3, max_new_tokens=6, prefix_allowed_tokens_fn=next_tokens
    )
    for wanted, nbest in zip(outputs, found.result.nbest, strict=True):
        assert sorted(h.output for h in nbest) == sorted(wanted)
    assert found.scores.isfinite().sum(dim=-1).tolist() == [3, 1, 2, 1]
    assert found.sequences.shape == (4, 3, 6)


def test_nothing_is_allowed():
    ids = list(range(VOCABULARY))
    with pytest.raises(ValueError, match="no node in the beam of example 0 has a legal action"):
        hf.beam_search(tiny("t5"), *sources(tiny("t5")), width=2, suppress_tokens=ids)


# --- when outputs end ---------------------------------------------------------------------------


def words():
    # transformers tries out tokenizers with the word abcdef
    return tokenizer(["abcdef", *(f"w{number}" for number in range(4, VOCABULARY))])


@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("kind", KINDS)
def test_stop_strings(kind, early_stopping):
    model = tiny(kind)
    plain = hf.beam_search(model, *sources(model), width=4, max_new_tokens=LIMIT)
    often = [token for n in plain.result.nbest for h in n for token in h.output[:2]]
    strings = [f"w{max({*often} - {0, 1, 2, 3}, key=often.count)}"]
    stop = {"stop_strings": strings, "early_stopping": early_stopping}
    found = assert_same(model, 3, tokenizer=words(), **stop)
    lasts = {h.output[-1] for n in found.result.nbest for h in n if len(h.output) < LIMIT}
    assert int(strings[0][1:]) in lasts
    with pytest.raises(ValueError, match=f"needs a tokenizer, .* got .*{strings[0]}.* without one"):
        hf.beam_search(model, *sources(model), width=3, **stop)


@pytest.mark.parametrize("kind", KINDS)
def test_time_is_up(kind):
    model = tiny(kind)
    found = assert_same(model, 3, max_time=0.0)
    assert {len(h.output) for n in found.result.nbest for h in n} == {1}
    assert_same(model, 3, max_time=1000.0)


@pytest.mark.parametrize("kind", ["t5", "bart"])
@pytest.mark.parametrize("settings", [{}, {"repetition_penalty": 1.5}, {"forced_bos_token_id": 9}])
def test_decoder_prompts(kind, settings):
    model = tiny(kind)
    start = model.config.decoder_start_token_id
    prompts = torch.tensor([[start, 5, 6], [start, 7, 8], [start, 9, 3], [start, 4, 4]])
    found = assert_same(model, 3, decoder_input_ids=prompts, **settings)
    assert torch.equal(found.sequences[:, 0, :3], prompts)
    with_start = hf.beam_search(
        model, *sources(model), width=3, max_new_tokens=LIMIT, decoder_input_ids=prompts[:, 1:],
        **settings,
    )  # fmt: skip
    assert torch.equal(with_start.sequences, found.sequences)


def test_a_generation_config_of_ones_own():
    model = tiny("t5")
    config = GenerationConfig(
        repetition_penalty=1.5, max_new_tokens=5, length_penalty=0.5, eos_token_id=1
    )
    one = hf.beam_search(model, *sources(model), width=3, generation_config=config)
    two = hf.beam_search(
        model, *sources(model), width=3, repetition_penalty=1.5, max_new_tokens=5,
        length_penalty=0.5,
    )  # fmt: skip
    assert torch.equal(one.sequences, two.sequences)


def test_a_setting_of_the_model_can_be_unset():
    model = make("t5")
    plain = hf.beam_search(model, *sources(model), width=3, max_new_tokens=LIMIT)
    model.generation_config.repetition_penalty = 1.9
    unset = {"repetition_penalty": None, "max_new_tokens": LIMIT}
    assert torch.equal(
        hf.beam_search(model, *sources(model), width=3, **unset).scores, plain.scores
    )
    assert_same(model, 3)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_beams": 4}, "`num_beams` is no setting of this search: it is `width` here"),
        ({"num_return_sequences": 2}, "`num_return_sequences` is no setting .*; take the first"),
        ({"custom_generate": hf.generate}, "`custom_generate` is no setting"),
        ({"max_new_tokens": 0}, "`max_new_tokens` must be at least 1, got 0"),
        ({"do_sample": True}, "do_sample=True, .* draws nothing at random; pass do_sample=False"),
        ({"num_beam_groups": 2}, "num_beam_groups=2, .* use `hf.diverse_beam_search`"),
        ({"diversity_penalty": 0.5}, "diversity_penalty=0.5, .* use `hf.diverse_beam_search`"),
        ({"force_words_ids": [[3]]}, r"force_words_ids=\[\[3\]\], .* pass `must_contain`"),
        ({"constraints": [3]}, r"constraints=\[3\], .* pass `must_contain`"),
        ({"penalty_alpha": 0.6}, "penalty_alpha=0.6, .* contrastive search has no beam"),
        ({"dola_layers": "low"}, "dola_layers='low', .* needs the logits of inner layers"),
        ({"guidance_scale": 1.5}, "guidance_scale=1.5, .* remembers rows, .* search without it"),
        ({"output_logits": True}, "output_logits=True, .* keeps no logits"),
        ({"output_attentions": True}, "output_attentions=True, .* read the sequences afterwards"),
        ({"output_hidden_states": True}, "output_hidden_states=True, .* read the sequences"),
        (
            {"watermarking_config": SynthIDTextWatermarkingConfig(keys=[1], ngram_len=2)},
            "watermarking_config=SynthIDTextWatermarkingConfig, .* remembers rows",
        ),
        (
            {"logits_processor": [UnbatchedClassifierFreeGuidanceLogitsProcessor(1.5, None)]},
            "the processor UnbatchedClassifierFreeGuidanceLogitsProcessor, .* remembers rows",
        ),
        ({"repetition_penalti": 1.5}, "not used by the model: .'repetition_penalti'"),
        (
            {"decoder_attention_mask": torch.ones(4, 1)},
            "tokens, their mask and encoded sources, but the caller also passes decoder_attention",
        ),
    ],
)
def test_what_a_search_cannot_do(settings, message):
    with pytest.raises(ValueError, match=message):
        hf.beam_search(tiny("t5"), *sources(tiny("t5")), width=2, **settings)


def test_what_was_read_before_is_refused():
    model = tiny("gpt2")
    ids, mask = sources(model)
    read = model(ids[:, :3], use_cache=True).past_key_values
    with pytest.raises(ValueError, match="reads its prompts itself, .* that hold 3 tokens"):
        hf.beam_search(model, ids, mask, width=2, past_key_values=read)
