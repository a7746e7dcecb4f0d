"""Transducers whose outputs match a pattern."""

import re

import pytest
from tiny_pairs import Pairs, pairs, small, sources

from beamlearn.check import UsageError
from beamlearn.data.pairs import Pair
from beamlearn.search.beam_search import exhaustive_search
from beamlearn.search.constrained_space import ConstrainedSpace
from beamlearn.tasks.sampling import draw
from beamlearn.tasks.transduction.decode import transduce
from beamlearn.tasks.transduction.matching import matching, roomy


def letters(**settings):
    data = Pairs(["ab", "ba"], [("xy",), ("yxz",)], ["pairs:1", "pairs:2"])
    return small(data, target_tokens="characters", **settings)


@pytest.mark.parametrize("finish", ["pad", "first"])
@pytest.mark.parametrize("pattern", ["x*y", "(xy|z){2,}", "[^x]+x", "z{5}"])
@pytest.mark.parametrize("width", [1, 3])
def test_every_output_matches(pattern, width, finish):
    model = letters(finish=finish)
    found = transduce(
        model, ["a", "ab", "bab"], width, nbest=width, constraint=matching(model, pattern)
    )
    outputs = [way.output for _, one in found for way in one.nbest]
    assert outputs
    assert all(re.fullmatch(pattern, output) for output in outputs)


def test_words_match():
    model = small()
    allowed = matching(model, "[a k]+ b|d {2}")
    found = transduce(model, sources(5), 3, nbest=3, constraint=allowed)
    for _, one in found:
        assert all(re.fullmatch("([ak] )+b|d d", way.output) for way in one.nbest)


def test_the_same_as_filtering_all_outputs():
    model = letters(length_factor=0.0, length_extra=3)
    space = model.space([model.encode("ab")])
    allowed = ConstrainedSpace(space, matching(model, "(x|yz)*"))
    model.scorer.normalize = None  # so that what is ruled out has no part in scores
    everything = exhaustive_search(space, model.scorer).nbest[0]
    expected = [h for h in everything if re.fullmatch("(x|yz)*", model.text(h.output))]
    found = exhaustive_search(allowed, model.scorer).nbest[0]
    assert [h.output for h in found] == [h.output for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-5)
    assert len(found) == 7  # the empty one, x, xx, xxx, yz, xyz and yzx


def test_samples_match():
    model = letters()
    batch = [model.encode("ab"), model.encode("b")]
    sample = draw(model, batch, 4, [1, 2], matching(model, "x?y?z?"))
    texts = [model.text(way.output) for row in sample.nbest for way in row]
    assert len(texts) == 8
    assert all(re.fullmatch("x?y?z?", text) for text in texts)


def test_without_a_pattern():
    assert matching(small(), None) is None


def test_no_room_for_a_match():
    model, told = letters(length_factor=1.0, length_extra=0), []
    allowed = matching(model, "x{3}")
    assert roomy(model, allowed, Pair("aba", (), 1), "file", told.append)
    assert not roomy(model, allowed, Pair("ab", (), 7), "file", told.append)
    assert told == [
        "file:7: The output may have 2 tokens, but the shortest one that matches `pattern` has 3; "
        "change `pattern`, or remove the source."
    ]
    assert roomy(model, None, Pair("", (), 1), "file", told.append)


def test_a_symbol_that_outputs_do_not_have():
    with pytest.raises(UsageError, match="'q' is no symbol of outputs at character 1"):
        matching(small(pairs(12)), "q")
