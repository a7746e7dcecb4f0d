import by_the_book
import numpy as np
import pytest
import torch
from generate import scorer_of, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlearn as bl

finishes = st.sampled_from(["pad", "first"])
widths = st.integers(1, 6)


def untagged(beams):
    """Paths of a stacked space as paths of the tree."""
    return [[path[-1][1] for path in beam] for beam in beams]


@given(trees(), widths, finishes)
def test_search_is_algorithm_1(tree, k, finish):
    beams, ranked = by_the_book.beam_search(tree.neighbors, tree.score, (), k, finish)
    result = bl.beam_search(tree.space(), scorer_of(tree), width=k, finish=finish)
    assert [[path[-1] for path in beam] for beam in result.beams[0]] == beams
    assert [hypothesis.output[-1] for hypothesis in result.nbest[0]] == ranked
    assert result.outputs[0][-1] == ranked[0]
    if len(beams) > 1:
        assert result.scores[0] == tree.score(ranked[0])


@settings(max_examples=20)
@given(st.lists(trees(), min_size=2, max_size=4), widths, finishes)
def test_batch_law(forest, k, finish):
    """Alone, in a batch and in a reversed batch, bit for bit, ties included."""

    def search(forest):
        return bl.beam_search(stacked(forest), stacked_scorer(forest), width=k, finish=finish)

    together, reverse = search(forest), search(forest[::-1])
    for number, tree in enumerate(forest):
        alone = bl.beam_search(tree.space(), scorer_of(tree), width=k, finish=finish)
        beams = [[path[-1] for path in beam] for beam in alone.beams[0]]
        for result, place in ((together, number), (reverse, len(forest) - 1 - number)):
            assert untagged(result.beams[place]) == beams
            assert [(h.score, h.probability) for h in result.nbest[place]] == [
                (h.score, h.probability) for h in alone.nbest[0]
            ]


@given(trees(equal_depth=True), widths)
def test_probabilities_and_step_scores_add_up(tree, k):
    for hypothesis in (nbest := bl.beam_search(tree.space(), scorer_of(tree), k).nbest[0]):
        assert sum(hypothesis.step_scores) == pytest.approx(hypothesis.score)
        assert len(hypothesis.step_scores) == len(hypothesis.output) - 1
    assert sum(hypothesis.probability for hypothesis in nbest) == pytest.approx(1)
    assert [h.score for h in nbest] == sorted((h.score for h in nbest), reverse=True)


def test_probabilities_are_a_softmax_of_the_final_beam():
    space = bl.GraphSpace(0, lambda n: [1, 2, 3] if n == 0 else [])
    nbest = bl.beam_search(space, bl.FunctionScorer(lambda path: path[-1]), width=2).nbest[0]
    share = torch.tensor([3.0, 2.0], dtype=torch.float64).softmax(0).tolist()
    assert [h.probability for h in nbest] == pytest.approx(share)


def test_an_initial_node_that_is_terminal_is_the_output():
    space = bl.GraphSpace("done", lambda _: [], cost=lambda _: 2.5)
    result = bl.beam_search(space, bl.FunctionScorer(lambda _: 1.0), width=3)
    assert result.outputs == [("done",)]
    assert result.beams == [[[("done",)]]]
    assert result.nbest[0][0].step_scores == ()
    trajectory = bl.beam_trajectory(space, bl.FunctionScorer(lambda _: 1.0))
    assert trajectory.costs == [[[2.5]]]
    assert trajectory.final_costs.tolist() == [2.5]
    assert trajectory.increased == [[]]


def test_an_empty_batch_is_no_work():
    result = bl.beam_search(bl.GraphSpace.stack([]), bl.FunctionScorer(lambda _: 0.0))
    assert len(result) == 0
    assert result.outputs == []


def test_exhaustive_search_lists_every_output():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 3 else [])
    scorer = bl.FunctionScorer(lambda path: int(path[-1].replace("a", "0").replace("b", "1"), 2))
    nbest = bl.exhaustive_search(space, scorer).nbest[0]
    assert [h.score for h in nbest] == list(range(7, -1, -1))
    with pytest.raises(ValueError, match="fewer than `limit` = 4 nodes"):
        bl.exhaustive_search(space, scorer, limit=4)


@pytest.mark.parametrize("width", [0, -3])
def test_a_beam_holds_at_least_one_node(width):
    space = bl.GraphSpace(0, lambda n: [1, 2] if n == 0 else [], cost=len)
    scorer = bl.FunctionScorer(lambda path: path[-1])
    for search in (bl.beam_search, bl.beam_trajectory):
        with pytest.raises(ValueError, match=f"`width` must be at least 1, got {width}"):
            search(space, scorer, width=width)


@pytest.mark.usefixtures("no_shape_checks")
def test_widths_of_other_libraries_are_numbers_too():
    space = bl.GraphSpace(0, lambda n: [1, 2] if n == 0 else [])
    scorer = bl.FunctionScorer(lambda path: path[-1])
    assert bl.beam_search(space, scorer, width=np.int64(2)).outputs == [(0, 2)]


def test_gradients_flow_through_the_scores_on_request():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 2 else [])
    scorer = bl.LinearScorer(
        lambda path: {"b": path[-1].count("b"), "n": len(path[-1])}, names=["b", "n"]
    )
    assert not bl.beam_search(space, scorer).scores.requires_grad
    result = bl.beam_search(space, scorer, width=2, gradients=True)
    (gradient,) = torch.autograd.grad(result.nbest_scores.sum(), scorer.theta)
    counts = [h.output[-1].count("b") for h in result.nbest[0]]
    assert gradient.tolist() == [sum(counts), 4]


def test_a_result_prints_as_a_table_that_fits_on_a_screen():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 5 else [])
    scorer = bl.FunctionScorer(lambda path: path[-1].count("b"))
    result = bl.beam_search(bl.GraphSpace.stack([space] * 20), scorer, width=7)
    lines = str(result).splitlines()
    assert lines[1].split(maxsplit=2) == [
        "0",
        "5.0000",
        "33.6%  ('', 'b', 'bb', 'bbb', 'bbbb', 'bbbbb')",
    ]
    assert lines[6:8] == ["    ... 2 more outputs", lines[1].replace("0", "1", 1)]
    assert lines[-1] == "    ... 12 more examples"
    assert len(lines) == 1 + 8 * 6 + 1
    assert repr(result) == "<SearchResult: 20 examples, up to 7 outputs each>"
    first = result.nbest[0][0]
    assert str(first).startswith("5.0000  33.6%  ('', 'b',")
    assert "step_scores" not in repr(first)


def test_long_outputs_are_cut_in_the_table():
    long = bl.GraphSpace("a" * 99, lambda word: [word + "b"] if len(word) < 100 else [])
    (_, line) = str(bl.beam_search(long, bl.FunctionScorer(lambda _: 0.0))).splitlines()
    assert line.endswith("aaa...")
    assert len(line) < 100
    empty = bl.beam_search(bl.GraphSpace.stack([]), bl.FunctionScorer(lambda _: 0.0))
    assert str(empty).count("\n") == 0


@pytest.mark.parametrize("steps", [0, -1])
@pytest.mark.parametrize("search", [bl.beam_search, bl.pooled_search, bl.beam_trajectory])
def test_a_search_without_a_step_is_refused(search, steps):
    space = bl.GraphSpace("", lambda word: [word + "a"] if not word else [], cost=len)
    scorer = bl.FunctionScorer(lambda path: 0.0)
    message = f"`max_steps` must be at least 1, got {steps}; leave it out for the limit .* 10000"
    with pytest.raises(ValueError, match=message):
        search(space, scorer, max_steps=steps)
    assert search(space, scorer, width=1, max_steps=1) is not None
