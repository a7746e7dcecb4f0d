"""A history against trajectories, n-best lists and the definitions in plain Python."""

from itertools import pairwise

import pytest
from generate import STRATEGIES, scorer_of, trees
from hypothesis import given
from hypothesis import strategies as st
from taggers import TableTagger, corpora

import beamlearn as bl
from beamlearn.search.history import History, HistoryNode

widths = st.integers(1, 4)
finishes = st.sampled_from(["pad", "first"])


def kept(beam):
    return [node for node in beam if node.kept]


def path_of(history, step, place):
    return history.path(step, history.beams[step][place])


def check(history, trajectory, example=0):
    """Does a history agree with the trajectory that it tells?"""
    beams = history.beams
    assert [len(kept(beam)) for beam in beams] == [len(b) for b in trajectory.beams[example]]
    assert [[node.cost for node in kept(beam)] for beam in beams] == trajectory.costs[example]
    increased = [step for step, yes in enumerate(trajectory.increased[example]) if yes]
    assert [drop.step - 1 for drop in history.drops] == increased
    for before, beam in pairwise(beams):
        for node in beam:
            assert node.score == pytest.approx(before[node.parent].score + node.added)
            assert node.moved or node.name == before[node.parent].name
            assert node.moved or node.added == 0
    for step, beam in enumerate(beams):
        for place, _ in enumerate(beam):
            places = history.ancestors(step, place)
            assert len(places) == step + 1
            assert places[0] == 0
            assert places[-1] == place
    assert history.winners == history.ancestors(len(beams) - 1, 0)


@given(tree=trees(), k=widths, finish=finishes)
def test_trajectory_told_of_a_graph(tree, k, finish):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, finish=finish)
    history = trajectory.history()
    check(history, trajectory)
    assert history.least_cost == tree.cstar(())
    for step, beam in enumerate(trajectory.beams[0]):
        for place, path in enumerate(beam):
            assert path_of(history, step, place) == [str(node) for node in path[1:]]


@given(corpus=corpora(), k=widths, seed=st.integers(0, 99))
def test_trajectory_told_of_taggings(corpus, k, seed):
    trajectory = bl.beam_trajectory(corpus.space(), TableTagger(corpus.tags, seed), k)
    for example in range(len(corpus)):
        history = trajectory.history(example)
        check(history, trajectory, example)
        for step, beam in enumerate(trajectory.beams[example]):
            for place, tags in enumerate(beam):
                assert path_of(history, step, place) == [str(tag) for tag in tags]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@given(tree=trees(root_terminal=False), k=widths)
def test_every_strategy_can_be_told(strategy, tree, k):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, strategy=STRATEGIES[strategy])
    check(trajectory.history(), trajectory)


@given(tree=trees(root_terminal=False), k=widths, finish=finishes)
def test_what_fell_is_the_cheapest_neighbor(tree, k, finish):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, finish=finish)
    history = trajectory.history()
    for drop in history.drops:
        before = [path[-1] for path in trajectory.beams[0][drop.step - 1]]
        around = [(slot, v) for slot, node in enumerate(before) for v in neighbors(tree, node)]
        costs = [tree.cstar(v) for _, v in around]
        scores = [tree.score(v) for _, v in around]
        lost = drop.node
        index = next(
            at for at, (slot, v) in enumerate(around) if slot == lost.parent and named(v, lost)
        )
        assert lost.cost == costs[index] == min(costs)
        assert (
            lost.score
            == scores[index]
            == max(score for score, cost in zip(scores, costs, strict=True) if cost == min(costs))
        )
        higher = sum(score > lost.score for score in scores)
        tied = sum(score == lost.score for score in scores[:index])
        assert drop.rank == 1 + higher + tied
        after = [node.cost for node in kept(history.beams[drop.step])]
        assert drop.increase == min(after) - min(costs) > 0
        last = kept(history.beams[drop.step])[-1]
        assert drop.rival == last
        assert not lost.kept
        assert history.path(drop.step, lost)[: drop.step] == [
            *path_of(history, drop.step - 1, lost.parent),
            *([lost.name] if lost.moved else []),
        ]


def neighbors(tree, node):
    """Those of a node; a finished one is its own."""
    return tree.neighbors(node) or [node]


def named(node, told):
    return str(node) == told.name


@given(tree=trees(), k=widths, finish=finishes)
def test_the_last_beam_is_the_nbest_list(tree, k, finish):
    space, scorer = tree.space(), scorer_of(tree)
    result = bl.beam_search(space, scorer, k, finish=finish)
    searched = result.history()
    told = bl.beam_trajectory(space, scorer, k, finish=finish).history()
    for history in (searched, told):
        last = len(history.beams) - 1
        found = [
            (path_of(history, last, place), node.score)
            for place, node in enumerate(history.beams[-1])
        ]
        assert found == [([*map(str, way.output[1:])], way.score) for way in result.nbest[0]]
        assert [node.kept for node in history.beams[-1]] == [True] + [False] * (len(found) - 1)
    assert searched.drops == ()
    assert searched.least_cost is None
    assert [[n.name for n in beam] for beam in searched.beams] == [
        [n.name for n in beam] for beam in told.beams
    ]


def test_an_initial_node_that_is_terminal():
    space = bl.GraphSpace("only", lambda node: [], cost=lambda path: 3.0)
    scorer = bl.FunctionScorer(lambda path: 0.0)
    start = HistoryNode(None, "", False, 0.0, 0.0, 3.0, True)
    told = bl.beam_trajectory(space, scorer).history()
    assert told == History(((start,),))
    assert told.path(0, start) == []
    assert told.can_be_best(start)
    assert told.winners == [0]
    assert len(bl.beam_search(space, scorer).history().beams) == 1


def test_a_finished_hypothesis_waits_and_can_fall():
    """The short word ends first and is the right one, but a longer one scores higher."""
    following = {"": ["a", "b"], "b": ["bc", "bd"]}
    scores = {"a": 1.0, "b": 2.0, "bc": 4.0, "bd": 3.0}
    space = bl.GraphSpace(
        "", lambda word: following.get(word, []), cost=lambda path: float(path[-1] != "a")
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    history = bl.beam_trajectory(space, scorer, width=2, finish="pad").history()
    (drop,) = history.drops
    assert (drop.step, drop.node.name, drop.node.moved, drop.rank) == (2, "a", False, 3)
    assert history.path(drop.step, drop.node) == ["a"]
    assert history.path(drop.step, drop.rival) == ["b", "bc"]


def test_where_a_strategy_stops_the_whole_beam_is_kept():
    following = {"": ["a", "b", "c"], "a": ["aa"], "b": ["bb"], "c": ["cc"]}
    scores = {"a": 3.0, "b": 2.0, "c": 1.0}
    space = bl.GraphSpace(
        "", lambda word: following.get(word, []), cost=lambda path: float(path[-1] != "cc")
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    history = bl.beam_trajectory(space, scorer, width=2, strategy="stop").history()
    assert [[(n.name, n.kept) for n in beam] for beam in history.beams[1:]] == [
        [("a", True), ("b", True)]
    ]
    assert [drop.node.name for drop in history.drops] == ["c"]


def test_records_are_rows_of_a_table():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 2 else [], lambda p: 0.0)
    history = bl.beam_search(space, bl.FunctionScorer(lambda p: p[-1].count("b")), 2).history()
    records = history.records()
    assert len(records) == sum(map(len, history.beams)) == 5
    assert records[0] == {
        "step": 0,
        "place": 0,
        "parent": None,
        "action": "",
        "moved": False,
        "score": 0.0,
        "added": 0.0,
        "cost": None,
        "kept": True,
        "winner": True,
    }
    assert [record["action"] for record in records if record["winner"]] == ["", "b", "bb"]
    assert {tuple(record) for record in records} == {tuple(records[0])}


def test_an_example_that_is_not_there():
    space = bl.GraphSpace("", lambda w: [], lambda p: 0.0)
    result = bl.beam_search(space, bl.FunctionScorer(lambda p: 0.0))
    with pytest.raises(IndexError, match="from 0 to 0"):
        result.history(1)
