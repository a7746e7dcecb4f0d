from functools import cache

import pytest
import torch
from generate import scorer_of, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import EOS, GenerationSpace, RecurrentScorer

import beamlearn as bl
from beamlearn.search.pooled_search import pooled_search

widths = st.integers(1, 6)
stopping = st.sampled_from([False, True, "never"])
powers = st.sampled_from([0.0, 0.6, 1.0, 2.0, -0.5])


def by_hand(children, score, k, early_stopping=False, power=0.0, longest=10_000, root=()):
    """The pool of one example in plain lists: pairs of score and node, best first."""
    if not children(root):
        return [(0.0, root)]
    running, pool, depth = [root], [], 0
    while running:
        depth += 1
        ranked = [(score(c) * depth**-power, c) for node in running for c in children(node)]
        ranked.sort(key=lambda pair: -pair[0])
        pool += [(s, node) for s, node in ranked[:k] if not children(node)]
        pool = sorted(pool, key=lambda pair: -pair[0])[:k]
        ranked = [(s, node) for s, node in ranked if children(node)][:k]
        running = [node for _, node in ranked]
        if running and len(pool) == k:
            best, worst = ranked[0][0], pool[-1][0]
            if early_stopping == "never" and power > 0:
                best *= (depth / longest) ** power
            if early_stopping is True or best <= worst:
                break
    return pool


def powered(scorer, power):
    scorer.length_power = power
    return scorer


@settings(max_examples=60)
@given(trees(), widths, stopping, powers)
def test_search_is_that_of_plain_lists(tree, k, early_stopping, power):
    scorer = powered(scorer_of(tree), power)
    result = pooled_search(tree.space(), scorer, k, early_stopping=early_stopping, max_steps=7)
    expected = by_hand(tree.neighbors, tree.score, k, early_stopping, power, longest=7)
    assert [(h.score, h.output[-1]) for h in result.nbest[0]] == expected
    assert result.outputs[0][-1] == expected[0][1]
    assert result.scores[0] == expected[0][0]
    assert result.nbest_scores.shape == result.nbest_mask.shape == (1, k)


@settings(max_examples=15)
@given(st.lists(trees(), min_size=2, max_size=4), widths, stopping, powers)
def test_batch_law(forest, k, early_stopping, power):
    """Alone, in a batch and in a reversed batch, bit for bit, ties included."""

    def search(space, scorer):
        return pooled_search(space, powered(scorer, power), k, early_stopping=early_stopping)

    together = search(stacked(forest), stacked_scorer(forest))
    reverse = search(stacked(forest[::-1]), stacked_scorer(forest[::-1]))
    for number, tree in enumerate(forest):
        alone = search(tree.space(), scorer_of(tree))
        expected = [(h.score, h.output[-1], h.step_scores) for h in alone.nbest[0]]
        beams = [[path[-1] for path in beam] for beam in alone.beams[0]]
        for result, place in ((together, number), (reverse, len(forest) - 1 - number)):
            nbest = result.nbest[place]
            assert [(h.score, h.output[-1][1], h.step_scores) for h in nbest] == expected
            assert [[path[-1][1] for path in beam] for beam in result.beams[place]] == beams


@given(trees(root_terminal=False), widths, stopping)
def test_numbers_add_up_and_beams_are_shown(tree, k, early_stopping):
    result = pooled_search(tree.space(), scorer_of(tree), k, early_stopping=early_stopping)
    nbest, beams = result.nbest[0], result.beams[0]
    for hypothesis in nbest:
        assert sum(hypothesis.step_scores) == pytest.approx(hypothesis.score)
        assert len(hypothesis.step_scores) == len(hypothesis.output) - 1
    assert sum(h.probability for h in nbest) == pytest.approx(1)
    assert [h.score for h in nbest] == sorted((h.score for h in nbest), reverse=True)
    assert len({h.output for h in nbest}) == len(nbest)
    assert beams[0] == [((),)]
    assert beams[-1] == [result.outputs[0]]
    for depth, beam in enumerate(beams[1:-1], 1):
        running = [path for path in beam if tree.neighbors(path[-1])]
        assert beam[: len(running)] == running
        assert {len(path) for path in running} == {depth + 1}
        assert 0 < len(running) <= k
        assert len(beam) - len(running) <= k


# --- sums of log-probabilities ------------------------------------------------------------------

LIMITS = [3, 6, 5, 1]


def generation(power, seed):
    space = GenerationSpace([()] * len(LIMITS), LIMITS, 4)
    space.max_steps = max(LIMITS)
    return space, powered(RecurrentScorer(len(LIMITS), 4, seed=seed), power)


@pytest.mark.slow
@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("power", [0.0, 0.7, 1.0, 2.0, -0.5])
@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_sums_over_tokens(k, power, early_stopping):
    space, scorer = generation(power, seed=k)
    result = pooled_search(space, scorer, k, early_stopping=early_stopping)
    for example, limit in enumerate(LIMITS):

        def children(tokens, limit=limit):
            ended = len(tokens) == limit or tokens[-1:] == (EOS,)
            return [] if ended else [(*tokens, token) for token in range(4)]

        @cache
        def score(tokens, example=example):
            return scorer.rescore(example, tokens, lambda _: list(range(4))).item()

        expected = by_hand(children, score, k, early_stopping, power, max(LIMITS))
        nbest = result.nbest[example]
        assert [h.output for h in nbest] == [tokens for _, tokens in expected]
        assert [h.score for h in nbest] == pytest.approx([s for s, _ in expected])


def in_parts(children, score, k, part, stop):
    """`by_hand` with parts and with what `stop` ends besides, as `early_stopping=True` ends."""
    running, pool = [()], []
    while running and len(pool) < k:
        ranked = sorted((c for node in running for c in children(node)), key=lambda c: -score(c))
        running = []
        for number in sorted({part(node) for node in ranked}):
            several = [node for node in ranked if part(node) == number][: 2 * k]
            ended = [node for node in several if not children(node) or stop(node)]
            pool += [node for node in several[:k] if node in ended]
            running += [node for node in several if node not in ended][:k]
        pool = sorted(pool, key=lambda node: -score(node))[:k]
        running.sort(key=lambda node: -score(node))
    return pool


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("stopped", [(), (3,), (2, 3)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_parts_and_more_that_stops(k, stopped, parts):
    space, scorer = generation(0.0, seed=k + parts)
    result = pooled_search(
        space,
        scorer,
        k,
        early_stopping=True,
        stops=lambda nodes, slots, actions: torch.isin(actions, torch.tensor(stopped)),
        parts=lambda nodes: torch.arange(4)[None, None] % parts,
    )
    for example, limit in enumerate(LIMITS):

        def children(tokens, limit=limit):
            ended = len(tokens) == limit or tokens[-1:] == (EOS,)
            return [] if ended else [(*tokens, token) for token in range(4)]

        @cache
        def score(tokens, example=example):
            return scorer.rescore(example, tokens, lambda _: list(range(4))).item()

        expected = in_parts(children, score, k, lambda n: n[-1] % parts, lambda n: n[-1] in stopped)
        nbest = result.nbest[example]
        assert [h.output for h in nbest] == expected
        assert [h.score for h in nbest] == pytest.approx([score(tokens) for tokens in expected])


def test_a_part_without_neighbors_is_no_dead_end():
    """The first part is empty in one example, the second one in the other."""
    space, scorer = generation(0.0, seed=3)
    numbers = torch.tensor([0, 1, 0, 1])[:, None, None]
    plain = pooled_search(space, scorer, 2)
    result = pooled_search(space, scorer, 2, parts=lambda nodes: numbers[nodes.examples])
    assert result.nbest == plain.nbest


@pytest.mark.parametrize("power", [0.0, 0.7, 1.0, 2.0, -0.5])
def test_a_search_that_goes_on_finds_nothing_worse(power):
    """All three ways to stop follow the same beams; they differ in when they stop."""
    for seed in range(5):
        space, scorer = generation(power, seed)
        early, usual, never = (
            pooled_search(space, scorer, 2, early_stopping=e) for e in (True, False, "never")
        )
        # Rows of batches of different sizes are rounded differently.
        assert bool((early.nbest_scores <= usual.nbest_scores + 1e-9).all())
        assert bool((usual.nbest_scores <= never.nbest_scores + 1e-9).all())


# --- corners ------------------------------------------------------------------------------------


def test_an_ended_hypothesis_leaves_its_slot_to_another():
    """Padded, "a" keeps one of two slots and "c" falls out; pooled, "c" runs on and wins."""
    children = {"": ["a", "b", "c"], "b": ["d"], "c": ["e"]}
    space = bl.GraphSpace("", lambda node: children.get(node, []))
    scores = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0, "e": 4.0}
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    assert bl.beam_search(space, scorer, 2, finish="pad").outputs == [("", "a")]
    assert [h.output[-1] for h in pooled_search(space, scorer, 2).nbest[0]] == ["e", "a"]


def test_a_hypothesis_that_is_only_as_good_as_the_worst_is_given_up():
    children = {"": ["a", "b"], "a": [], "b": ["c"], "c": []}
    space = bl.GraphSpace("", lambda node: children[node])
    scorer = bl.FunctionScorer(lambda path: {"a": 1.0, "b": 1.0, "c": 5.0}[path[-1]])
    assert pooled_search(space, scorer, 1).outputs == [("", "a")]


def test_a_terminal_neighbor_that_is_not_among_the_best_is_lost():
    children = {"": ["a", "b", "c"], "a": ["d"], "b": ["d"], "c": [], "d": []}
    space = bl.GraphSpace("", lambda node: children[node])
    scorer = bl.FunctionScorer(lambda path: -len(path) - "abcd".index(path[-1]))
    outputs = [h.output for h in pooled_search(space, scorer, 2).nbest[0]]
    assert outputs == [("", "a", "d"), ("", "b", "d")]


def test_everything_may_end_at_once():
    space = bl.GraphSpace(0, lambda n: [1, 2, 3] if n == 0 else [])
    result = pooled_search(space, bl.FunctionScorer(lambda path: path[-1]), 2)
    assert [h.output for h in result.nbest[0]] == [(0, 3), (0, 2)]
    assert result.beams == [[[(0,)], [(0, 3)]]]


def test_an_initial_node_that_is_terminal_is_the_output():
    space = bl.GraphSpace("done", lambda _: [])
    result = pooled_search(space, bl.FunctionScorer(lambda _: 1.0), 3)
    assert result.outputs == [("done",)]
    assert result.beams == [[[("done",)]]]
    assert [h.step_scores for h in result.nbest[0]] == [()]


def test_an_empty_batch_is_no_work():
    result = pooled_search(bl.GraphSpace.stack([]), bl.FunctionScorer(lambda _: 0.0))
    assert len(result) == 0
    assert result.outputs == result.nbest == []


def test_where_nothing_runs_on_the_pool_is_the_result():
    """The scorer rules out the only way on, but one output is there."""
    children = {"": ["a", "b"], "a": [], "b": ["c"], "c": []}
    space = bl.GraphSpace("", lambda node: children[node])
    scorer = bl.FunctionScorer(lambda path: float("-inf") if path[-1] == "c" else 0.0)
    assert [h.output for h in pooled_search(space, scorer, 2).nbest[0]] == [("", "a")]


def test_scores_that_cannot_be_ranked_are_refused():
    space = bl.GraphSpace("", lambda word: [word + "a"] if len(word) < 2 else [])
    with pytest.raises(ValueError, match="Scores must be finite, but the scorer gave nan"):
        pooled_search(space, bl.FunctionScorer(lambda _: float("nan")))
    with pytest.raises(ValueError, match="Every beam needs a neighbor"):
        pooled_search(space, bl.FunctionScorer(lambda _: float("-inf")))


@pytest.mark.usefixtures("no_shape_checks")
def test_wrong_arguments():
    space = bl.GraphSpace("", lambda word: [word + "a"])
    scorer = bl.FunctionScorer(len)
    with pytest.raises(ValueError, match="must be True, False or \"never\", got 'always'"):
        pooled_search(space, scorer, early_stopping="always")
    with pytest.raises(ValueError, match="`width` must be at least 1"):
        pooled_search(space, scorer, 0)
    with pytest.raises(ValueError, match="within `max_steps` = 5 transitions"):
        pooled_search(space, scorer, max_steps=5)


def test_nothing_is_kept_for_gradients():
    space, scorer = generation(1.0, seed=0)
    result = pooled_search(space, scorer, 2)
    assert not result.nbest_scores.requires_grad
    assert result.nbest_scores.dtype == torch.float64
