"""Outputs that contain phrases."""

from itertools import product

import pytest
import torch

pytest.importorskip("transformers")

from tiny_transformers import VOCABULARY, make, sources, tiny

from beamlearn import hf
from beamlearn.hf.phrases import Phrases
from beamlearn.search.space import Expansion

SMALL = hf.Rules(6, None, (1,), 20)


def contains(output, phrase):
    return any(output[n : n + len(phrase)] == phrase for n in range(len(output)))


def overlap(output, phrase):
    lengths = range(len(phrase), 0, -1)
    return next((n for n in lengths if output[-n:] == phrase[:n] and len(output) >= n), 0)


def missing(output, phrases):
    """By the definition."""
    lacking = [phrase for phrase in phrases if not contains(output, phrase)]
    furthest = max((overlap(output, phrase) for phrase in lacking), default=0)
    return sum(map(len, lacking)) - furthest


@pytest.mark.parametrize(
    "phrases",
    [[[2, 3]], [[2, 2, 3]], [[2, 3, 2, 4]], [[2, 3], [3, 4]], [[2], [3, 3], [2, 3, 3]]],
)
def test_what_is_missing(phrases):
    automata = Phrases(phrases, SMALL, torch.device("cpu"))
    for length in range(5):
        for output in product((2, 3, 4), repeat=length):
            state = automata.start(1)
            for token in output:
                state = automata.after(state, torch.tensor([[token]]))
            expected = [missing([*output, token], phrases) for token in range(6)]
            assert automata.missing_after(state)[0, 0].tolist() == expected


def search(model, width, phrases, **settings):
    return hf.beam_search(
        model, *sources(model), width=width, must_contain=phrases,
        **{"max_new_tokens": 9, **settings},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("phrases", [[[7]], [[7, 8, 9]], [[7, 8], [9, 10]], [[7, 7], [7, 5, 6]]])
@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_every_output_contains_them(kind, phrases, early_stopping):
    found = search(tiny(kind), 3, phrases, early_stopping=early_stopping)
    assert found.result.nbest_mask.all()
    for nbest in found.result.nbest:
        for hypothesis in nbest:
            assert all(contains(hypothesis.output, phrase) for phrase in phrases)


def whole(model, example, output):
    """The log-probability of an output, read at once."""
    ids, mask = (field[example : example + 1] for field in sources(model))
    read = torch.tensor([[0, *output[:-1]]])
    numbers = model(input_ids=ids, attention_mask=mask, decoder_input_ids=read).logits[0]
    return float(numbers.log_softmax(dim=-1).gather(-1, torch.tensor(output)[:, None]).sum())


@torch.no_grad()
def test_the_best_output_is_found_where_the_beam_is_wide():
    """All outputs of up to three tokens that contain the phrase, and their log-probabilities."""
    model = tiny("t5")
    found = search(model, 1600, [[7, 8]], length_penalty=0.0, max_new_tokens=3)
    others = [token for token in range(VOCABULARY) if token != 1]
    outputs = [[7, 8, token] for token in range(VOCABULARY)] + [[token, 7, 8] for token in others]
    for example, nbest in enumerate(found.result.nbest[:2]):
        best = max(outputs, key=lambda output: whole(model, example, output))
        assert nbest[0].output == best
        assert nbest[0].score == pytest.approx(whole(model, example, best), abs=1e-4)
        assert {tuple(h.output) for h in nbest} == {*map(tuple, outputs)}


def test_phrases_stand_where_they_fit():
    """Not only at the end, where there is no more room."""
    found = search(tiny("t5"), 4, [[7, 8]], max_new_tokens=12)
    places = [h.output.index(7) for n in found.result.nbest for h in n]
    assert min(places) < 10


def test_what_is_contained_anyway_changes_nothing():
    model = tiny("t5")
    plain = hf.beam_search(model, *sources(model), width=4, max_new_tokens=9)
    best = plain.result.nbest[2][0].output
    found = search(model, 4, [best[:2]])
    assert found.result.nbest[2][0].output == best
    torch.testing.assert_close(found.scores[2, 0], plain.scores[2, 0], atol=1e-4, rtol=0)


@pytest.mark.parametrize("settings", [{}, {"repetition_penalty": 1.4}])
def test_forced_tokens_leave_room(settings):
    model = make("bart")
    config = model.generation_config
    config.forced_bos_token_id, config.forced_eos_token_id = 11, 2
    found = search(model, 2, [[7, 8], [9]], max_new_tokens=5, **settings)
    assert {tuple(h.output) for n in found.result.nbest for h in n} <= {
        (11, 7, 8, 9, 2),
        (11, 9, 7, 8, 2),
    }
    with pytest.raises(ValueError, match="have 4 tokens, but an output has room for only 3; raise"):
        search(model, 2, [[7, 8], [9, 9]], max_new_tokens=5)


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        ([], r"`must_contain` must be phrases of at least one token each, got \[\]"),
        ([8, 9], r"`must_contain` must be phrases of at least one token each, got \[8, 9\]"),
        ([[7], []], r"at least one token each, got \[\[7\], \[\]\]; give a list of lists"),
        ([[7, 1]], r"do not end an output, got \[7, 1\]; tokenize phrases without special tokens"),
        ([[40]], r"tokens that the model scores \(below 40\) .* got \[40\]"),
        ([[7] * 10], "have 10 tokens, but an output has room for only 9; raise `max_new_tokens`"),
    ],
)
def test_phrases_that_cannot_be_contained(phrases, message):
    with pytest.raises(ValueError, match=message):
        search(tiny("t5"), 2, phrases)


@pytest.mark.parametrize(
    ("forced", "left", "expected"),
    [(0, 2, [0, 2, 3, 4, 5]), (0, 1, [2, 3]), (1, 2, [2, 3]), (1, 1, [3])],
)
def test_a_forced_last_token_is_no_part_of_a_phrase(forced, left, expected):
    """Half of a phrase is there, and `left` tokens may follow the next: which may that be?"""
    phrases = Phrases([[2, 3]], SMALL, torch.device("cpu"), last_forced=bool(forced))
    state = phrases.after(phrases.start(1), torch.tensor([[2]]))
    expansion = Expansion(6, (torch.arange(6) == 1)[None, None])
    legal = phrases.restrict(expansion, state, left).legal
    assert legal[0, 0].nonzero()[:, 0].tolist() == expected
