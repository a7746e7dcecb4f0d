import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_trees import SYSTEMS, sentences, small
from trees import random_tree

import beamlearn as bl
from beamlearn.evaluation.calibration import calibration_error
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.parsing.attachment import arcs_of, attachment
from beamlearn.tasks.parsing.decode import parse
from beamlearn.tasks.parsing.report import report
from beamlearn.tasks.parsing.sentences import ParsedSentences
from beamlearn.tasks.parsing.tree import Tree

RELATIONS = ("nmod", "nmod:poss", "punct", "punct:x", "obj")
systems = pytest.mark.parametrize("system", SYSTEMS)


def random_trees(lengths, seed):
    draw = random.Random(seed)
    return [Tree(tuple(random_tree(n, draw)), tuple(draw.choices(RELATIONS, k=n))) for n in lengths]


@given(st.lists(st.integers(0, 5), max_size=4), st.integers(0, 99))
def test_attachment_word_by_word(lengths, seed):
    right, found = random_trees(lengths, seed), random_trees(lengths, seed + 1)
    heads = arcs = spoken = spoken_heads = spoken_arcs = universal = 0
    for one, two in zip(right, found, strict=True):
        for word in range(len(one)):
            same = one.heads[word] == two.heads[word]
            names = one.relations[word], two.relations[word]
            heads += same
            arcs += same and names[0] == names[1]
            universal += same and names[0].split(":")[0] == names[1].split(":")[0]
            if names[0] not in ("punct", "punct:x"):
                spoken += 1
                spoken_heads += same
                spoken_arcs += same and names[0] == names[1]
    words, scores = sum(lengths), attachment(right, found)
    assert scores.uas == pytest.approx(heads / max(words, 1))
    assert scores.las == pytest.approx(arcs / max(words, 1))
    assert scores.conll18_las == pytest.approx(universal / max(words, 1))
    assert scores.uas_without_punctuation == pytest.approx(spoken_heads / max(spoken, 1))
    assert scores.las_without_punctuation == pytest.approx(spoken_arcs / max(spoken, 1))
    exact = [one == two for one, two in zip(right, found, strict=True)]
    assert scores.tree_accuracy == pytest.approx(sum(exact) / max(len(exact), 1))


def test_subtypes_count_except_for_conll18():
    right, found = Tree((0, 1), ("root", "nmod:poss")), Tree((0, 1), ("root", "nmod"))
    scores = attachment([right], [found])
    assert (scores.uas, scores.las, scores.conll18_las) == (1.0, 0.5, 1.0)


def test_only_the_same_words_are_compared():
    with pytest.raises(ValueError, match="zip"):
        attachment([Tree((0,), ("root",))], [Tree((0, 1), ("root", "x"))])


@systems
def test_a_report_is_what_the_sentences_say(system):
    parser, data = small(system=system), sentences(5, seed=3)
    width = 3
    with torch.no_grad():
        found = [next(parse(parser, [words], None, width))[1] for words in data.words]
        paths = [
            bl.beam_trajectory(parser.space([parser.encode(words, None, tree)]), parser.scorer, 3)
            for words, tree in zip(data.words, data.trees, strict=True)
        ]
    told = report(parser, data, width, batch_size=2)
    assert told.width == width
    assert told.attachment == attachment(data.trees, [parsing.tree for parsing in found])
    assert told.increases_per_example == pytest.approx(
        sum(int(path.increases) for path in paths) / len(data)
    )
    right = [
        a == b
        for tree, parsing in zip(data.trees, found, strict=True)
        for a, b in zip(arcs_of(tree), arcs_of(parsing.tree), strict=True)
    ]
    sure = torch.tensor([share for parsing in found for share in parsing.confidence])
    assert told.calibration_error == pytest.approx(
        calibration_error(sure, torch.tensor(right)), abs=1e-6
    )
    assert told.words_per_second > 0
    flat = told.to_json()
    assert (flat["las"], flat["width"]) == (told.attachment.las, width)
    assert "attachment" not in flat


def test_without_crossing_arcs_the_cost_is_the_las():
    crossing = sentences(8)
    places = [i for i, tree in enumerate(crossing.trees) if tree.is_projective]
    data = crossing.take(places)
    assert 0 < len(data) < len(crossing)
    told = report(small(data), data, 2)
    words = sum(map(len, data.words)) / len(data)
    assert told.attachment.las == pytest.approx(1 - told.cost / words, abs=1e-6)
    assert told.optimum == 0


@systems
@pytest.mark.parametrize("width", [1, 2, 5])
def test_nbest_and_confidences(system, width):
    parser, data = small(system=system), sentences(6, seed=2)
    found = in_order(parse(parser, data.words, None, width, nbest=width))
    for words, parsing in zip(data.words, found, strict=True):
        shares = [way.probability for way in parsing.nbest]
        assert 1 <= len(parsing.nbest) <= width
        assert len({way.tree for way in parsing.nbest}) == len(parsing.nbest)
        assert sum(shares) == pytest.approx(1)  # the whole beam is listed
        assert parsing.nbest[0].tree == parsing.tree
        assert len(parsing.confidence) == len(words)
        assert all(0 < share <= 1 for share in parsing.confidence)
        for place, share in enumerate(parsing.confidence):
            agreeing = [
                w.probability
                for w in parsing.nbest
                if w.arcs[place] == parsing.nbest[0].arcs[place]
            ]
            assert share == pytest.approx(sum(agreeing))
    some = in_order(parse(parser, data.words, None, width, nbest=2))
    assert all(sum(way.probability for way in p.nbest) <= 1 + 1e-9 for p in some)
    assert [p.nbest for p in some] == [p.nbest[:2] for p in found]


@systems
def test_one_answer_is_the_first_of_many(system):
    parser, data = small(system=system), sentences(6, seed=2)
    one, many = (in_order(parse(parser, data.words, None, 5, nbest=n)) for n in (1, 5))
    bare = in_order(parse(parser, data.words, None, 5, confidence=False))
    assert [(p.tree, p.confidence) for p in bare] == [(p.tree, ()) for p in one]
    for first, ways in zip(one, many, strict=True):
        assert first.confidence == pytest.approx(ways.confidence)
        assert len(first.nbest) == 1
        assert first.tree == ways.tree
        assert first.nbest[0].score == ways.nbest[0].score
        assert first.nbest[0].probability == pytest.approx(ways.nbest[0].probability)


def test_greedy_search_is_sure_of_itself():
    ((_, parsing),) = parse(small(), [["the", "dog"]], width=1, nbest=3)
    assert parsing.confidence == (1.0, 1.0)
    assert [way.probability for way in parsing.nbest] == [1.0]


@pytest.mark.parametrize("system", SYSTEMS)
def test_empty_sentences(system):
    found = dict(parse(small(system=system), [[], ["the"], []], width=3, nbest=2))
    for number in (0, 2):
        (only,) = found[number].nbest
        assert (only.arcs, only.score, only.probability) == ([], 0.0, 1.0)
        assert found[number].confidence == ()
    assert found[1].tree == Tree((0,), ("root",))


def test_tags_are_needed_where_they_are_looked_at():
    data = sentences(4, tagged=True)
    parser = small(data, tags="upos")
    assert report(parser, data, 2).attachment.uas <= 1
    with pytest.raises(ValueError, match="This parser needs a tag for each word, got none"):
        list(parse(parser, data.words, None, 2))
    assert (
        len(report(parser, ParsedSentences([["new"]], [Tree((0,), ("r",))], [["X"]]), 2).to_json())
        > 9
    )
