import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import SPANS, TAGS, small

import beamlearn as bl
from beamlearn.tasks.decoding import search
from beamlearn.tasks.tagging.decode import tag

words = st.sampled_from(["the", "dog", "Rain", "unheard", "."])
inputs = st.lists(st.lists(words, max_size=5), max_size=5)
MODELS = [
    {"context": "sentence"},
    {"context": "streaming", "lookahead": 1, "history": "gru", "normalize": "log_softmax"},
    {"model": "linear"},
]


@pytest.mark.parametrize("options", MODELS, ids=["sentence", "streaming", "linear"])
@settings(max_examples=10)
@given(inputs, st.integers(1, 5), st.integers(1, 7), st.integers(1, 3))
def test_taggings_are_the_search_sentence_by_sentence(options, sentences, width, nbest, size):
    tagger = small(**options)
    found = dict(tag(tagger, sentences, width, nbest=nbest, batch_size=size))
    assert sorted(found) == list(range(len(sentences)))
    for number, sentence in enumerate(sentences):
        space = tagger.space([tagger.encode(sentence)])
        (expected,) = bl.beam_search(space, tagger.scorer, width).nbest
        tagging = found[number]
        assert len(tagging.nbest) == min(nbest, len(expected)) >= 1
        for one, two in zip(tagging.nbest, expected, strict=False):
            assert one.tags == tuple(tagger.lexicon.tags[t] for t in two.output)
            assert one.score == pytest.approx(two.score)
            assert one.probability == pytest.approx(two.probability)
        assert tagging.tags == tagging.nbest[0].tags
        assert tagging.confidence == pytest.approx(agreement(expected))
        assert all(0 < share <= 1 for share in tagging.confidence)


def agreement(nbest):
    """For each word, the mass of the hypotheses that have the tag of the first one."""
    return [
        sum(h.probability for h in nbest if h.output[place] == best)
        for place, best in enumerate(nbest[0].output)
    ]


def test_confidences_do_not_depend_on_how_many_are_listed():
    tagger, sentences = small(), [["the", "dog", "runs"], ["Rain"]]
    one, all_ = (dict(tag(tagger, sentences, 4, nbest=n)) for n in (1, 9))
    assert [one[i].confidence for i in (0, 1)] == [all_[i].confidence for i in (0, 1)]
    assert [len(all_[i].nbest) for i in (0, 1)] == [4, 4]
    assert sum(h.probability for h in all_[0].nbest) == pytest.approx(1)


def test_greedy_search_is_sure_of_itself():
    ((_, tagging),) = tag(small(), [["the", "dog"]], width=1, nbest=3)
    assert tagging.confidence == (1.0, 1.0)
    assert [h.probability for h in tagging.nbest] == [1.0]


def test_short_sentences_come_first():
    sentences = [["the"] * n for n in (3, 0, 2, 1, 2)]
    assert [number for number, _ in tag(small(), sentences, 2, batch_size=2)] == [1, 3, 2, 4, 0]


@pytest.mark.parametrize("options", MODELS, ids=["sentence", "streaming", "linear"])
@pytest.mark.parametrize("size", [1, 2, 8])
def test_empty_sentences(options, size):
    found = dict(tag(small(**options), [[], ["the"], []], 3, nbest=2, batch_size=size))
    for number in (0, 2):
        (only,) = found[number].nbest
        assert (only.tags, only.score, only.probability) == ((), 0.0, 1.0)
        assert found[number].confidence == ()
    assert len(found[1].nbest) == 2


def test_no_sentences():
    assert list(tag(small(), [], 3)) == []


@pytest.mark.parametrize("nbest", [0, -1])
def test_a_list_has_at_least_one_tagging(nbest):
    with pytest.raises(ValueError, match=f"`nbest` must be at least 1, got {nbest}"):
        list(tag(small(), [["the"]], 3, nbest=nbest))


@pytest.mark.parametrize("options", MODELS, ids=["sentence", "streaming", "linear"])
def test_constrained_taggings_are_legal(options):
    tagger = small(SPANS, constrained=True, **options)
    sentences = [["the", "dog", "runs", "Rain", "."] * 3, ["dog"], [], ["x", "y"]]
    for _, tagging in tag(tagger, sentences, 6, nbest=6):
        for hypothesis in tagging.nbest:
            before = "O"
            for name in hypothesis.tags:
                assert not name.startswith("I-") or before[2:] == name[2:]
                before = name


def test_constraints_need_bio_tags():
    with pytest.raises(ValueError, match="`constrained` needs BIO tags .* has D, N, P, V"):
        small(TAGS, constrained=True)


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_meanwhile(training):
    tagger = small(dropout=0.5)
    tagger.scorer.train(training)
    batch = [tagger.encode(["the", "dog", "runs"])]
    one, two = (search(tagger, batch, 3) for _ in range(2))
    assert torch.equal(one.nbest_scores, two.nbest_scores)
    assert not one.nbest_scores.requires_grad
    assert tagger.scorer.training is training


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_a_long_sentence():
    sentence = ["the", "dog", "runs", "Rain", "unheard"] * 1000
    ((_, tagging),) = tag(small(), [sentence], width=2)
    assert len(tagging.tags) == len(tagging.confidence) == 5000
