import importlib
import sys

import pytest
import torch

import beamlearn as bl

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, generate, make, sources, t5_config, tiny
from torch.nn.utils.rnn import pad_sequence
from transformers import T5EncoderModel, T5Model

from beamlearn import hf
from beamlearn.hf.rules import BEYOND_RULES
from beamlearn.search.pooled_search import pooled_search

LIMIT = 12
PENALTIES = (0.0, 0.6, 1.0, 2.0, -0.5)
STOPPING = (False, True, "never")
CASES = [
    ("bart", 2),
    ("t5", 4),
    ("marian", 8),
    ("gpt2", 3),
    ("llama", 4),
    *(
        pytest.param(kind, width, marks=pytest.mark.slow)
        for kind, width in (("bart", 8), ("t5", 3), ("marian", 2), ("qwen2", 8), ("gpt2", 8))
    ),
]


def search(model, width, **settings):
    return hf.beam_search(
        model, *sources(model), width=width, **{"max_new_tokens": LIMIT, **settings}
    )


def cut(sequences, rules):
    """Sequences with one and the same filling after their ends."""
    ends = torch.isin(sequences, torch.tensor(rules.ends))
    ends[..., 0] = False  # some decoders start from an end token
    return sequences.masked_fill(ends.cumsum(dim=-1) - ends.long() > 0, -1)


def assert_same(model, width, **settings):
    found, (sequences, scores) = (
        search(model, width, **settings),
        generate(model, width, **{"max_new_tokens": LIMIT, **settings}),
    )
    rules = hf.rules_of(model)
    assert cut(found.sequences, rules).tolist() == cut(sequences, rules).tolist()
    torch.testing.assert_close(found.scores, scores, atol=1e-4, rtol=0)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("early_stopping", STOPPING)
@pytest.mark.parametrize("length_penalty", PENALTIES)
@pytest.mark.parametrize(("kind", "width"), CASES)
def test_it_finds_what_generate_finds(kind, width, length_penalty, early_stopping):
    settings = {"length_penalty": length_penalty, "early_stopping": early_stopping}
    assert_same(tiny(kind), width, **settings)


@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_outputs_end_early_and_at_the_limit(kind):
    """Otherwise the comparison would say little."""
    nbest = [n for width in (2, 4, 8) for n in search(tiny(kind), width).result.nbest]
    lengths = [len(hypothesis.output) for row in nbest for hypothesis in row]
    assert lengths.count(LIMIT) > 5
    assert len(set(lengths)) > 5


def test_the_ways_to_stop_differ():
    def steps(early_stopping):
        found = search(tiny("bart"), 2, length_penalty=0.6, early_stopping=early_stopping)
        return [len(rows) for rows in found.result.trace.rows]

    early, usual, never = steps(True), steps(False), steps("never")
    assert all(a <= b < c for a, b, c in zip(early, usual, never, strict=True))
    assert early < usual


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_width_one_is_greedy(kind, early_stopping):
    model = tiny(kind)
    ids, mask = sources(model)
    theirs = model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=LIMIT)
    found = search(model, 1, early_stopping=early_stopping).sequences[:, 0]
    rules = hf.rules_of(model)
    assert cut(found, rules).tolist() == cut(theirs, rules).tolist()


@pytest.mark.parametrize("early_stopping", STOPPING)
@pytest.mark.parametrize("width", [2, 5])
def test_several_end_tokens(width, early_stopping):
    model = make("bart")
    usual = [token for row in search(model, 4).result.nbest for h in row for token in h.output]
    common = max(set(usual) - {2}, key=usual.count)
    model.generation_config.eos_token_id = [2, common, 11]
    found = assert_same(model, width, early_stopping=early_stopping)
    last = {h.output[-1] for row in found.result.nbest for h in row if len(h.output) < LIMIT}
    assert common in last
    assert last <= {2, common, 11}


@pytest.mark.parametrize("length_penalty", PENALTIES)
@pytest.mark.parametrize("early_stopping", STOPPING)
def test_forced_tokens(length_penalty, early_stopping):
    model = make("bart")
    model.generation_config.forced_bos_token_id = 7
    model.generation_config.forced_eos_token_id = 2
    found = assert_same(model, 4, length_penalty=length_penalty, early_stopping=early_stopping)
    outputs = [h.output for row in found.result.nbest for h in row]
    assert {output[0] for output in outputs} == {7}
    assert {output[-1] for output in outputs} == {2}


def test_tokens_that_are_ruled_out():
    model = make("marian")
    usual = {token for row in search(model, 8).result.nbest for h in row for token in h.output}
    banned = [*sorted(usual - {0}), 11, 12][:3]
    config = model.generation_config
    config.renormalize_logits = True
    config.bad_words_ids, config.suppress_tokens = [[banned[0]], [banned[1]], [0]], [banned[2]]
    found = assert_same(model, 4)
    tokens = {token for row in found.result.nbest for h in row for token in h.output}
    assert not tokens & set(banned)
    assert 0 in tokens  # the end is never a bad word


@pytest.mark.filterwarnings("ignore:Using the model-agnostic default `max_length`:UserWarning")
def test_what_the_caller_leaves_out_is_as_in_generate():
    model = make("bart")
    ids, mask = sources(model)
    config = model.generation_config

    def same(length):
        theirs = model.generate(ids, attention_mask=mask, num_beams=3, do_sample=False)
        found = hf.beam_search(model, ids, mask, width=3).sequences[:, 0]
        longest = int((cut(theirs, hf.rules_of(model)) >= 0).sum(dim=-1).max())
        assert theirs.tolist() == found[:, :longest].tolist()
        assert hf.rules_of(model).max_new_tokens == length

    same(20)
    config.length_penalty, config.early_stopping, config.max_length = 2.0, "never", 9
    same(8)
    config.max_length, config.max_new_tokens, config.length_penalty = None, 5, -1.0
    same(5)


def test_padding_is_read_off_the_sources():
    model = tiny("marian")
    ids, mask = sources(model)
    one = hf.beam_search(model, ids, width=3, max_new_tokens=6)
    two = hf.beam_search(model, ids, mask, width=3, max_new_tokens=6)
    assert torch.equal(one.sequences, two.sequences)
    assert torch.equal(one.scores, two.scores)


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_lists_of_tokens_are_padded(kind):
    model = tiny(kind)
    rows = [[5, 7, 3, 9], [4, 8], [6, 6, 2]]
    options = {"width": 3, "max_new_tokens": 5}
    together = hf.beam_search(model, rows, **options)
    masked = hf.beam_search(model, rows, [[1] * len(row) for row in rows], **options)
    assert torch.equal(masked.sequences, together.sequences)
    for row, output in zip(rows, together.result.outputs, strict=True):
        alone = hf.beam_search(
            model, torch.tensor([row]), torch.ones(1, len(row)).long(), **options
        )
        assert alone.result.outputs == [output]


@pytest.mark.parametrize(
    ("rows", "mask", "message"),
    [
        ([5, 7, 3], None, r"`input_ids` must be a tensor .* list of token ids .* got \[5, 7, 3\]"),
        ([], None, r"`input_ids` must be .* got \[\]; pass what a tokenizer returns"),
        ([[5], []], None, r"`input_ids` must be .* got \[\[5\], \[\]\]"),
        ("a text", None, "`input_ids` must be .* got 'a text'"),
        ([["a", "b"]], None, "`input_ids` must be .* a list of token ids for each source"),
        ([[5, 7]], [[1]], r"a number for each token of `input_ids`, got rows of \[1\] and \[2\]"),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_other_sources_are_refused(rows, mask, message):
    with pytest.raises(ValueError, match=message):
        hf.beam_search(tiny("t5"), rows, mask, width=2)


def test_without_a_padding_token_every_symbol_is_read():
    rules = hf.Rules(VOCABULARY, 0, (3,), 4, padding=3)
    ids = torch.tensor([[3, 5, 3]])
    assert hf.HuggingFaceSpace(ids, None, rules).attention_mask.tolist() == [[1, 1, 1]]
    rules = hf.Rules(VOCABULARY, 0, (), 4)
    assert hf.HuggingFaceSpace(ids * 0, None, rules).attention_mask.tolist() == [[1, 1, 1]]


def test_sequences_are_filled_with_the_padding_token():
    model = tiny("t5")
    found = search(model, 4, length_penalty=0.0)
    for row, nbest in zip(found.sequences.tolist(), found.result.nbest, strict=True):
        for sequence, hypothesis in zip(row, nbest, strict=True):
            rest = len(sequence) - 1 - len(hypothesis.output)
            assert sequence == [0, *hypothesis.output, *[0] * rest]


ASKED = {name: 0.5 if 0.0 in usual or 1.0 in usual else 3 for name, usual in BEYOND_RULES.items()}


@pytest.mark.parametrize("name", sorted(BEYOND_RULES))
def test_settings_that_rules_cannot_say_are_refused(name):
    model = make("bart")
    for neutral in (None, *BEYOND_RULES[name]):
        setattr(model.generation_config, name, neutral)
        hf.rules_of(model)
    setattr(model.generation_config, name, ASKED[name])
    with pytest.raises(
        ValueError, match=f"asks for {name}={ASKED[name]!r}, which rules cannot say; .*beam_search"
    ):
        hf.rules_of(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bad_words_ids": [[3]]}, r"bad_words_ids=\[\[3\]\] without renormalize_logits"),
        ({"suppress_tokens": [3]}, r"suppress_tokens=\[3\] without renormalize_logits"),
        ({"bad_words_ids": [[3, 4]], "renormalize_logits": True}, "of several tokens"),
        ({"forced_eos_token_id": [2, 3]}, r"forced_eos_token_id=\[2, 3\]"),
        ({"decoder_start_token_id": None, "bos_token_id": None}, "decoder_start_token_id=None"),
        ({"max_new_tokens": 0}, "`max_new_tokens` must be at least 1, got 0"),
        ({"eos_token_id": [2, 5000]}, "must be one of the .* has eos_token_id=5000; set it in"),
    ],
)
def test_settings_that_cannot_be_kept_to_are_refused(settings, message):
    model = make("bart")
    for name, value in settings.items():
        setattr(model.generation_config, name, value)
    with pytest.raises(ValueError, match=message):
        hf.rules_of(model)


@pytest.mark.parametrize("kind", [T5Model, T5EncoderModel])
def test_models_that_cannot_generate_are_refused(kind):
    with pytest.raises(TypeError, match=f"a model that can generate, .* {kind.__name__}"):
        hf.HuggingFaceScorer(kind(t5_config()))


def test_without_transformers_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "beamlearn.hf")
    with pytest.raises(ImportError, match=r"pip install beamlearn\[hf\]"):
        importlib.import_module("beamlearn.hf")


# --- the scorer in the library's own searches ---------------------------------------------------


def setting(kind, power=0.0, lengths=(7, 2, 5, 4)):
    """A space and a scorer."""
    model = tiny(kind)
    rules = hf.rules_of(model, LIMIT)
    space = hf.HuggingFaceSpace(*sources(model, lengths), rules)
    return space, hf.HuggingFaceScorer(model, length_power=power)


@torch.no_grad()
def log_probability(model, space, example, output):
    """Read the whole output at once, without a cache."""
    numbers = model(
        input_ids=space.input_ids[example : example + 1],
        attention_mask=space.attention_mask[example : example + 1],
        decoder_input_ids=torch.tensor([[space.rules.start, *output[:-1]]]),
    ).logits[0]
    return float(numbers.log_softmax(dim=-1).gather(-1, torch.tensor(output)[:, None]).sum())


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.0, 0.7])
@pytest.mark.parametrize("how", ["pad", "first", "pool"])
@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_scores_are_log_probabilities(kind, how, power):
    space, scorer = setting(kind, power)
    if how == "pool":
        result = pooled_search(space, scorer, 4)
    else:
        result = bl.beam_search(space, scorer, 4, finish=how)
    for example, nbest in enumerate(result.nbest):
        for h in nbest:
            assert len(h.output) == LIMIT or h.output[-1] in space.rules.ends
            assert not set(h.output[:-1]) & set(space.rules.ends)
            whole = log_probability(scorer.model, space, example, h.output)
            assert h.score == pytest.approx(whole / len(h.output) ** power, abs=1e-4)


@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_a_beam_is_searched_as_if_it_were_alone(kind):
    space, scorer = setting(kind, 1.0)
    together = pooled_search(space, scorer, 4).nbest
    for example in range(len(space)):
        row = slice(example, example + 1)
        ids, mask = space.input_ids[row], space.attention_mask[row]
        alone = hf.HuggingFaceSpace(ids, mask, space.rules)
        nbest = pooled_search(alone, scorer, 4).nbest[0]
        assert [h.output for h in nbest] == [h.output for h in together[example]]


def test_memories_are_values():
    """A memory can be gone on from twice, to narrower and to wider beams."""
    space, scorer = setting("bart")
    with torch.no_grad():
        start = scorer.start(space)
        before = start.cache.get_seq_length(), start.logits.clone()
        wide = torch.tensor([[3, 4], [5, 6], [7, 8], [9, 10]])
        stays = torch.zeros(4, 2, dtype=torch.bool)
        move = bl.Move(None, torch.zeros_like(wide), wide, stays, stays)
        nodes = space.advance(space.initial(), move)
        once, twice = (scorer.advance(start, nodes, move) for _ in range(2))
        torch.testing.assert_close(once.logits, twice.logits)
        assert (start.cache.get_seq_length(), once.cache.get_seq_length()) == (before[0], 2)
        assert torch.equal(start.logits, before[1])
        slots, stays = torch.tensor([[1], [0]]), torch.zeros(2, 1, dtype=torch.bool)
        fewer = bl.Move(torch.tensor([3, 1]), slots, torch.tensor([[11], [12]]), stays, stays)
        after = scorer.advance(once, space.advance(nodes, fewer), fewer)
        for place, example, tokens in ((0, 3, [10, 11]), (1, 1, [5, 12])):
            whole = scorer.model(
                input_ids=space.input_ids[[example]],
                attention_mask=space.attention_mask[[example]],
                decoder_input_ids=torch.tensor([[space.rules.start, *tokens]]),
            ).logits[0, -1]
            torch.testing.assert_close(after.logits[place, 0], whole, atol=1e-4, rtol=0)


def test_gradients_reach_the_model():
    model = make("t5")
    space = hf.HuggingFaceSpace(*sources(model), hf.rules_of(model, 5))
    result = bl.beam_search(space, hf.HuggingFaceScorer(model), 2, gradients=True)
    result.scores.sum().backward()
    assert all(float(p.grad.abs().sum()) > 0 for p in model.encoder.block[0].layer[0].parameters())
    assert model.lm_head.weight.grad is not None


class FewOthers(bl.Oracle):
    """Every token but one costs 1; the rest of an output can be free, up to the limit."""

    def __init__(self, space, token=5):
        self.sources, self.actions = len(space), space.rules.vocabulary
        self.price = (torch.arange(self.actions) != token).float()

    def initial(self):
        return torch.zeros(self.sources)

    def start(self):
        return torch.zeros(self.sources, 1)

    def costs(self, memory, nodes):
        return memory[..., None] + self.price

    def advance(self, memory, nodes, move):
        return move.follow(memory) + self.price[move.actions]


def test_a_model_can_be_trained_with_costs_of_ones_own():
    model = make("bart")
    rules, (ids, mask) = hf.rules_of(model, 5), sources(model)

    class Few(bl.Task):
        def space(self, examples):
            rows = torch.tensor(examples)
            return hf.HuggingFaceSpace(ids[rows], mask[rows], rules, costs=FewOthers)

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = [[0, 1]] * 12
    scorer = hf.HuggingFaceScorer(model)
    rounds = list(bl.learn(batches, Few(), scorer, optimizer, width=2, loss="log_loss_beam"))
    assert rounds[-1].losses.sum() < rounds[0].losses.sum()
    with pytest.raises(ValueError, match="HuggingFaceSpace has none; build it with references"):
        bl.beam_trajectory(hf.HuggingFaceSpace(ids, mask, rules), scorer, 2)


def test_a_model_in_training_is_searched_in_evaluation_mode():
    model = make("bart").train()
    one, two = search(model, 3), search(model, 3)
    assert model.training
    assert torch.equal(one.scores, two.scores)
    torch.testing.assert_close(one.scores, search(model.eval(), 3).scores)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "qwen2"])
def test_prompts_may_be_padded_on_either_side(kind):
    model = tiny(kind)
    ids, mask = sources(model)
    lists = [row[there > 0] for row, there in zip(ids, mask, strict=True)]
    padded = pad_sequence(lists, batch_first=True, padding_value=0)
    masked = pad_sequence([torch.ones_like(row) for row in lists], batch_first=True)
    left = hf.beam_search(model, ids, mask, width=3, max_new_tokens=6)
    right = hf.beam_search(model, padded, masked, width=3, max_new_tokens=6)
    listed = hf.beam_search(model, [row.tolist() for row in lists], width=3, max_new_tokens=6)
    for other in (right, listed):
        assert torch.equal(other.sequences, left.sequences)
        torch.testing.assert_close(other.scores, left.scores, atol=1e-5, rtol=0)
