import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_trees import sentences, small

from beamlearn.data.text import DataError
from beamlearn.tasks.parsing.decode import parse
from beamlearn.tasks.parsing.stream import ParsingStream
from beamlearn.tasks.stream import StreamError

words = st.lists(st.sampled_from(["the", "dog", "saw", "whom", "man", "new"]), max_size=7)
MODELS = {
    "hybrid 0": {"lookahead": 0},
    "hybrid 2": {"lookahead": 2, "encoder_layers": 2, "normalize": "log_softmax"},
    "eager 1": {"system": "arc-eager", "lookahead": 1, "history": "none"},
    "standard 0": {"system": "arc-standard", "lookahead": 0, "history": "gru"},
    "lift": {"lookahead": 1, "crossing": "lift"},
    "last action alone": {"lookahead": 0, "accumulate": False},
}
models = pytest.mark.parametrize("name", MODELS)


def built(name, seed=0, exact=False, **options):
    """A parser with weights that prefer one action to another.

    An exact one has halves as weights, and sees no difference between words: its scores are
    sums without rounding, and many are equal.
    """
    parser = small(sentences(8, tagged="tags" in options), **{**MODELS[name], **options})
    generator = torch.Generator().manual_seed(seed)
    parser.scorer.double()
    with torch.no_grad():
        for parameter in parser.scorer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.7)
        for key, parameter in parser.scorer.named_parameters():
            if exact:
                vague = key.startswith(("context", "history"))
                parameter.copy_(parameter.mul(0.0 if vague else 2.0).round() / 2)
    return parser


def at_once(parser, sentence, width, tags=None):
    ((_, found),) = parse(parser, [sentence], tags, width, nbest=width)
    return found.nbest


def fed(parser, sentence, width):
    stream = ParsingStream(parser, width)
    return [*map(stream.feed, sentence), stream.finish()]


@models
@settings(max_examples=12)
@given(words, st.integers(1, 6), st.integers(0, 3), st.booleans())
def test_the_answers_are_those_of_the_whole_sentence(name, sentence, width, seed, exact):
    parser = built(name, seed, exact)
    found, expected = fed(parser, sentence, width)[-1].beam, at_once(parser, sentence, width)
    assert [way.tree for way in found] == [way.tree for way in expected]
    if exact:
        assert [way.score for way in found] == [way.score for way in expected]
    for one, two in zip(found, expected, strict=True):
        assert one.score == pytest.approx(two.score)
        assert one.probability == pytest.approx(two.probability)


@models
@settings(max_examples=12)
@given(words, st.integers(1, 6), st.integers(0, 3))
def test_what_is_certain_is_what_all_hypotheses_agree_on(name, sentence, width, seed):
    parser = built(name, seed)
    told, states = {}, fed(parser, sentence, width)
    for place, state in enumerate(states, 1):
        assert not told.keys() & state.new.keys()
        told |= state.new
        arcs = [way.arcs for way in state.beam]
        count = min(place, len(sentence))
        assert {len(way) for way in arcs} == {count}
        agreed = [arcs[0][n] if len({way[n] for way in arcs}) == 1 else None for n in range(count)]
        assert state.certain == agreed == [told.get(word) for word in range(1, count + 1)]
        assert sum(way.probability for way in state.beam) == pytest.approx(1)
    for word, arc in told.items():
        assert states[-1].beam[0].arcs[word - 1] == arc


@models
def test_words_to_come_change_nothing_that_was_said(name):
    parser = built(name)
    one, two = (
        fed(parser, ["the", "dog", "saw", "man", *rest], 4)[:4] for rest in (["whom"], ["a", "."])
    )
    assert one == two
    assert [way.arcs for way in one[-1].beam] == [way.arcs for way in two[-1].beam]


def test_earlier_states_stay_as_they_were():
    parser, sentence = built("eager 1"), ["the", "dog", "saw", "whom", "man"] * 2
    stream, states, kept = ParsingStream(parser, 5), [], []
    for word in sentence:
        states.append(stream.feed(word))
        kept.append((states[-1].certain, [way.arcs for way in states[-1].beam]))
    stream.finish()
    assert [(state.certain, [way.arcs for way in state.beam]) for state in states] == kept


def test_decisions_are_made_before_the_end():
    """After each word, all transitions are taken that words yet to come have no part in."""
    parser, sentence = built("hybrid 2"), ["the", "dog", "saw", "man", "whom", "new"]
    stream = ParsingStream(parser, 4)
    for count, word in enumerate(sentence, 1):
        stream.feed(word)
        furthest = int(stream.beam.nodes.front.max())
        assert furthest == max(1, count - 1)
        assert furthest - 1 <= stream.beam.depth <= 2 * furthest


def test_marked_words_stay_open_until_the_end():
    """Whom crosses the verb: where it goes is known only from the whole tree."""
    seen = 0
    for seed in range(8):
        parser = built("hybrid 0", seed)
        last = fed(parser, ["whom", "the", "dog", "saw", "a", "man"], 4)[-1]
        expected = at_once(parser, ["whom", "the", "dog", "saw", "a", "man"], 4)
        assert [way.tree for way in last.beam] == [way.tree for way in expected]
        stream = ParsingStream(parser, 4)
        for word in ["whom", "the", "dog", "saw", "a", "man"]:
            state = stream.feed(word)
            marked = {w for own in stream.open.beam for w, arc in own.items() if "||" in arc[1]}
            assert all(state.certain[w - 1] is None for w in marked)
            assert not any("||" in relation for _, relation in state.new.values())
            seen += len(marked)
    assert seen


def test_words_with_tags():
    parser = built("hybrid 0", tags="upos")
    pairs = [("the", "DET"), ("dog", "NOUN"), ("saw", "VERB")]
    found = fed(parser, pairs, 3)[-1].beam
    expected = at_once(parser, [w for w, _ in pairs], 3, [[tag for _, tag in pairs]])
    assert [way.tree for way in found] == [way.tree for way in expected]
    with pytest.raises(DataError, match=r"`word` must be a \(word, tag\) pair"):
        ParsingStream(parser).feed("the")


@pytest.mark.usefixtures("no_shape_checks")
def test_a_long_sentence():
    parser, draw = built("hybrid 2"), random.Random(0)
    sentence = draw.choices(["the", "dog", "saw", "man", "whom"], k=150)
    found, expected = fed(parser, sentence, 3)[-1].beam, at_once(parser, sentence, 3)
    assert [way.tree for way in found] == [way.tree for way in expected]


def test_a_parser_that_needs_the_sentence_cannot_stream():
    with pytest.raises(StreamError, match="trained with `lookahead` = all"):
        ParsingStream(small())


def test_covington_cannot_stream():
    with pytest.raises(
        StreamError, match="`system` = covington, .* train one with `system` = arc-h"
    ):
        ParsingStream(small(system="covington", lookahead=1))


def test_nothing_after_the_end():
    stream = ParsingStream(built("hybrid 0"))
    stream.finish()
    for call in (lambda: stream.feed("the"), stream.finish):
        with pytest.raises(StreamError, match="finished; call `stream` again"):
            call()


def test_dropout_is_off_and_comes_back():
    parser = built("hybrid 0", dropout=0.5)
    parser.scorer.train()
    one, two = (fed(parser, ["the", "dog", "saw"], 3) for _ in range(2))
    assert one == two
    assert parser.scorer.training
