import random
from zlib import crc32

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import SMALL, WORDS, small

import beamlearn as bl
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.linear import LinearTagger, hashed_features
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.space import TaggingExample, TaggingSpace

sentences = st.lists(st.sampled_from(["a", "Bc", "d-1", "", "été"]), max_size=5)


def named(words, place, before, after):
    """The features of a word by name."""
    low = ["<"] * before + [word.lower() for word in words] + [">"] * after
    word, at = words[place], {j: low[place + before + j] for j in range(-before, after + 1)}
    names = [f"word={word}", f"low={word.lower()}"]
    names += [f"affix=^{word.lower()[:n]}" for n in (1, 2, 3, 4)]
    names += [f"affix={word.lower()[-n:]}$" for n in (1, 2, 3, 4)]
    shape = {"a": "x", "Bc": "Xx", "d-1": "x-0", "": "", "été": "xx", "Rain": "Xxx"}[word]
    names += [f"affix=={shape}"]
    names += [f"at{j}={at[j]}" for j in at if j]
    return names + [f"pair{j}={at[j]} {at[j + 1]}" for j in at if j < after]


@given(sentences, st.integers(0, 2), st.integers(0, 2))
def test_features_are_checksums_of_names(words, before, after):
    found = hashed_features(words, before, after)
    width = len(named(["a"], 0, before, after))
    assert found.shape == (len(words), width)
    for place in range(len(words)):
        names = named(words, place, before, after)
        assert found[place].tolist() == [crc32(name.encode()) for name in names]


def test_features_are_the_same_numbers_in_every_process():
    found = hashed_features(["Rain"])[0].tolist()
    assert found[:3] == [4228317779, 1175994990, 3280036242]
    assert {1280243502, 528522040} < set(found)  # at-1=< and pair-2=< <


@given(sentences.filter(len), st.integers(0, 4), st.integers(0, 2))
def test_a_stream_shows_no_later_word(words, place, after):
    place = min(place, len(words) - 1)
    before = hashed_features(words, after=after)
    changed = words[: place + 1 + after] + ["other"] * len(words[place + 1 + after :])
    assert torch.equal(hashed_features(changed, after=after)[: place + 1], before[: place + 1])
    if place + 1 + after < len(words):
        assert not torch.equal(hashed_features(changed, after=after), before)


@pytest.mark.parametrize(
    ("context", "lookahead", "after"),
    [("streaming", 0, 0), ("streaming", 3, 3), ("sentence", 0, 2)],
)
def test_a_tagger_looks_as_far_as_its_context(context, lookahead, after):
    tagger = small(model="linear", context=context, lookahead=lookahead)
    for words in WORDS:
        assert torch.equal(tagger.encode(words).features, hashed_features(words, 2, after))


def bucket(feature, tag, buckets):
    """Where the weight of a feature with a tag is, in whole numbers of any size."""
    mixed = (feature * 0x9E3779B1 + (tag + 1) * 0x85EBCA77) % 2**47
    mixed = ((mixed ^ (mixed >> 17)) * 0xC2B2AE3D) % 2**47
    return (mixed ^ (mixed >> 15)) % buckets


def by_hand(theta, features, tags, count):
    """What each tag adds to the score of a tagging."""
    padded = [count + 1, count, *tags]
    steps = []
    for place, chosen in enumerate(tags):
        second_last, last = padded[place] + 1, padded[place + 1] + 1
        history = [last, last * 4096 + second_last, last * 0xC2B2AE3D + features[place][0]]
        steps.append(sum(theta[bucket(f, chosen, len(theta))] for f in features[place] + history))
    return steps


@settings(max_examples=15)
@given(st.lists(sentences, min_size=1, max_size=3), st.integers(1, 4), st.integers(1, 5))
def test_scores_are_sums_over_hashed_features(batch, count, width):
    scorer = LinearTagger(count, 1009).double()
    torch.nn.init.normal_(scorer.theta, generator=torch.Generator().manual_seed(0))
    theta = scorer.theta.tolist()
    features = [hashed_features(words) for words in batch]
    space = TaggingSpace([TaggingExample(f) for f in features], count)
    for rows, nbest in zip(features, bl.beam_search(space, scorer, width).nbest, strict=True):
        for hypothesis in nbest:
            expected = by_hand(theta, rows.tolist(), hypothesis.output, count)
            assert hypothesis.step_scores == pytest.approx(expected)
            assert hypothesis.score == pytest.approx(sum(expected))


def test_features_and_tags_are_spread_over_the_buckets():
    buckets = [
        bucket(f, t, 1 << 20)
        for f in hashed_features(list("abcdef")).unique().tolist()
        for t in range(50)
    ]
    assert len(set(buckets)) > 0.99 * len(buckets)


def toy(seed, sentences=40):
    """`can` is a verb behind a noun and a noun behind a determiner; the rest is what it is."""
    choice, words, tags = random.Random(seed).choice, [], []
    for _ in range(sentences):
        subject, verb, thing = choice("abcd"), choice("uvw"), choice("xyz")
        words.append(["the", "can", subject, "can", verb, thing])
        tags.append(["D", "N", "N", "V", "V", "N"])
        words.append([subject, "can", "the", thing])
        tags.append(["N", "V", "D", "N"])
    return words, tags


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("context", ["streaming", "sentence"])
def test_a_toy_is_learned(context):
    words, tags = toy(seed=0)
    settings = SMALL.model_copy(update={"model": "linear", "context": context})
    tagger = Tagger.build(settings, words, tags)
    assert not tagger.scorer.theta.any()
    examples = [tagger.encode(w, t) for w, t in zip(words, tags, strict=True)]
    batches = bl.minibatches(examples, 20, epochs=5)
    optimizer = torch.optim.SGD(tagger.scorer.parameters(), lr=0.1)
    for _ in bl.learn(batches, tagger, tagger.scorer, optimizer, loss="perceptron_last", width=2):
        pass
    new_words, new_tags = toy(seed=1, sentences=5)
    found = dict(tag(tagger, new_words, width=2))
    assert [list(found[i].tags) for i in range(len(new_words))] == new_tags


def test_empty_sentences_beside_others():
    tagger = small(model="linear")
    found = dict(tag(tagger, [[], ["the", "dog"], []], width=2))
    assert [len(found[i].tags) for i in range(3)] == [0, 2, 0]
