import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import SPANS, TAGS, WORDS, small

from beamlearn.data.text import DataError
from beamlearn.tasks.stream import StreamError
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.stream import TaggingStream

words = st.sampled_from(["the", "dog", "Rain", "unheard", ".", ""])
sentences = st.lists(words, max_size=8)
MODELS = {
    "0": {"lookahead": 0},
    "2": {"lookahead": 2, "normalize": "log_softmax"},
    "lstm 0": {"lookahead": 0, "encoder": "lstm"},
    "lstm 3": {"lookahead": 3, "encoder": "lstm", "encoder_layers": 2, "history": "gru"},
    "linear 0": {"model": "linear", "lookahead": 0},
    "linear 3": {"model": "linear", "lookahead": 3},
    "last action alone": {"lookahead": 1, "accumulate": False},
}
models = pytest.mark.parametrize("name", MODELS)


def tied(tagger):
    """Weights that are halves, so that sums are exact and often equal."""
    with torch.no_grad():
        for parameter in tagger.scorer.parameters():
            parameter.copy_((2 * parameter).round() / 2)
    return tagger


def at_once(tagger, sentence, width):
    ((_, tagging),) = tag(tagger, [sentence], width, nbest=width)
    return tagging.nbest


def fed(tagger, sentence, width):
    stream = TaggingStream(tagger, width)
    return [*map(stream.feed, sentence), stream.finish()]


@models
@settings(max_examples=12)
@given(sentences, st.integers(1, 6), st.integers(0, 3), st.sampled_from([TAGS, SPANS]))
def test_the_answers_are_those_of_the_whole_sentence(name, sentence, width, seed, tags):
    tagger = small(tags, seed=seed, constrained=tags is SPANS, **MODELS[name])
    if name.startswith("linear"):  # sums of a network are rounded, and would break ties by chance
        tagger = tied(tagger)
    found, expected = fed(tagger, sentence, width)[-1].beam, at_once(tagger, sentence, width)
    assert [way.tags for way in found] == [way.tags for way in expected]
    if name.startswith("linear"):
        assert [way.score for way in found] == [way.score for way in expected]
    for one, two in zip(found, expected, strict=True):
        assert one.score == pytest.approx(two.score)
        assert one.probability == pytest.approx(two.probability)


@models
@settings(max_examples=12)
@given(sentences, st.integers(1, 6), st.integers(0, 3))
def test_what_is_certain_is_what_all_hypotheses_agree_on(name, sentence, width, seed):
    tagger = small(seed=seed, **MODELS[name])
    states, told = fed(tagger, sentence, width), []
    for place, state in enumerate(states, 1):
        told += state.new
        tags = [way.tags for way in state.beam]
        decided = max(0, place - MODELS[name]["lookahead"]) if place <= len(sentence) else place - 1
        assert {len(way) for way in tags} == {decided}
        agreed = next((n for n in range(decided) if len({way[n] for way in tags}) > 1), decided)
        assert list(state.certain) == told == list(tags[0][:agreed])
        assert sum(way.probability for way in state.beam) == pytest.approx(1)
        assert state.tags == tags[0]
    assert states[-1].tags[: len(told)] == tuple(told)


@models
def test_words_to_come_change_nothing_that_was_said(name):
    tagger = small(**MODELS[name])
    one, two = (
        fed(tagger, ["the", "dog", "runs", "the", *rest], 4)[:4]
        for rest in (["rain", "."], ["unheard"])
    )
    for a, b in zip(one, two, strict=True):
        assert a == b
        assert [way.tags for way in a.beam] == [way.tags for way in b.beam]


def test_earlier_states_stay_as_they_were():
    tagger, sentence = small(lookahead=1), ["the", "dog", "runs", "the", "rain"] * 4
    stream, states, kept = TaggingStream(tagger, 5), [], []
    for word in sentence:
        states.append(stream.feed(word))
        kept.append((states[-1].certain, [way.tags for way in states[-1].beam]))
    stream.finish()
    assert [(state.certain, [way.tags for way in state.beam]) for state in states] == kept


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("name", ["2", "lstm 3", "linear 3"])
def test_work_and_memory_do_not_grow(name):
    stream = TaggingStream(small(**MODELS[name]), 3)
    for word in ["the", "dog", "runs", "rain"] * 100:
        stream.feed(word)
    memory = stream.beam.memory
    assert len(memory.emissions) == 1
    assert stream.space.features.shape[1] == 1
    waiting = getattr(stream.listener, "waiting", None) or stream.listener.contexts.window
    assert len(waiting) <= 3


@pytest.mark.parametrize("options", [{}, {"context": "sentence"}, {"lookahead": "all"}])
def test_a_tagger_that_needs_the_sentence_cannot_stream(options):
    with pytest.raises(StreamError, match="trained with `lookahead` = all; train one with a"):
        TaggingStream(small(**options))


def test_a_mixture_cannot_stream():
    tagger = small(lookahead=0)
    tagger.mixture = object()
    with pytest.raises(StreamError, match="one policy"):
        TaggingStream(tagger)


def test_nothing_after_the_end():
    stream = TaggingStream(small(lookahead=0))
    stream.finish()
    for call in (lambda: stream.feed("the"), stream.finish):
        with pytest.raises(StreamError, match="finished; call `stream` again"):
            call()


@pytest.mark.usefixtures("no_shape_checks")
def test_words_are_fed_one_by_one():
    stream = TaggingStream(small(lookahead=0))
    with pytest.raises(DataError, match=r"`word` must be a word .* got \['the', 'dog'\]"):
        stream.feed(WORDS[0][:2])


def test_dropout_is_off_and_comes_back():
    tagger = small(lookahead=1, dropout=0.5)
    tagger.scorer.train()
    one, two = (fed(tagger, ["the", "dog", "runs"], 3)[-1] for _ in range(2))
    assert one == two
    assert tagger.scorer.training
