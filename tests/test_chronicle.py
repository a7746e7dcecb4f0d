"""A chronicle against trajectories, n-best lists and the definitions in plain Python."""

from itertools import pairwise

import pytest
from generate import STRATEGIES, scorer_of, trees
from hypothesis import given
from hypothesis import strategies as st
from taggers import TableTagger, corpora

import beamlearn as bl
from beamlearn.chronicle import Chronicle, Node

widths = st.integers(1, 4)
finishes = st.sampled_from(["pad", "first"])


def kept(beam):
    return [node for node in beam if node.kept]


def path_of(chronicle, step, place):
    return chronicle.path(step, chronicle.beams[step][place])


def check(chronicle, trajectory, example=0):
    """Does a chronicle agree with the trajectory that it tells?"""
    beams = chronicle.beams
    assert [len(kept(beam)) for beam in beams] == [len(b) for b in trajectory.beams[example]]
    assert [[node.cost for node in kept(beam)] for beam in beams] == trajectory.costs[example]
    increased = [step for step, yes in enumerate(trajectory.increased[example]) if yes]
    assert [fall.step - 1 for fall in chronicle.falls] == increased
    for before, beam in pairwise(beams):
        for node in beam:
            assert node.score == pytest.approx(before[node.parent].score + node.added)
            assert node.moved or node.name == before[node.parent].name
            assert node.moved or node.added == 0
    for step, beam in enumerate(beams):
        for place, _ in enumerate(beam):
            places = chronicle.ancestors(step, place)
            assert len(places) == step + 1
            assert places[0] == 0
            assert places[-1] == place
    assert chronicle.winners == chronicle.ancestors(len(beams) - 1, 0)


@given(tree=trees(), k=widths, finish=finishes)
def test_trajectory_told_of_a_graph(tree, k, finish):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, finish=finish)
    chronicle = trajectory.chronicle()
    check(chronicle, trajectory)
    assert chronicle.least_cost == tree.cstar(())
    for step, beam in enumerate(trajectory.beams[0]):
        for place, path in enumerate(beam):
            assert path_of(chronicle, step, place) == [str(node) for node in path[1:]]


@given(corpus=corpora(), k=widths, seed=st.integers(0, 99))
def test_trajectory_told_of_taggings(corpus, k, seed):
    trajectory = bl.beam_trajectory(corpus.space(), TableTagger(corpus.tags, seed), k)
    for example in range(len(corpus)):
        chronicle = trajectory.chronicle(example)
        check(chronicle, trajectory, example)
        for step, beam in enumerate(trajectory.beams[example]):
            for place, tags in enumerate(beam):
                assert path_of(chronicle, step, place) == [str(tag) for tag in tags]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@given(tree=trees(root_terminal=False), k=widths)
def test_every_strategy_can_be_told(strategy, tree, k):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, strategy=STRATEGIES[strategy])
    check(trajectory.chronicle(), trajectory)


@given(tree=trees(root_terminal=False), k=widths, finish=finishes)
def test_what_fell_is_the_cheapest_neighbor(tree, k, finish):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), k, finish=finish)
    chronicle = trajectory.chronicle()
    for fall in chronicle.falls:
        before = [path[-1] for path in trajectory.beams[0][fall.step - 1]]
        around = [(slot, v) for slot, node in enumerate(before) for v in neighbors(tree, node)]
        costs = [tree.cstar(v) for _, v in around]
        scores = [tree.score(v) for _, v in around]
        lost = fall.lost
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
        assert fall.rank == 1 + higher + tied
        after = [node.cost for node in kept(chronicle.beams[fall.step])]
        assert fall.rise == min(after) - min(costs) > 0
        last = kept(chronicle.beams[fall.step])[-1]
        assert fall.rival == last
        assert not lost.kept
        assert chronicle.path(fall.step, lost)[: fall.step] == [
            *path_of(chronicle, fall.step - 1, lost.parent),
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
    searched = result.chronicle()
    told = bl.beam_trajectory(space, scorer, k, finish=finish).chronicle()
    for chronicle in (searched, told):
        last = len(chronicle.beams) - 1
        found = [
            (path_of(chronicle, last, place), node.score)
            for place, node in enumerate(chronicle.beams[-1])
        ]
        assert found == [([*map(str, way.output[1:])], way.score) for way in result.nbest[0]]
        assert [node.kept for node in chronicle.beams[-1]] == [True] + [False] * (len(found) - 1)
    assert searched.falls == ()
    assert searched.least_cost is None
    assert [[n.name for n in beam] for beam in searched.beams] == [
        [n.name for n in beam] for beam in told.beams
    ]


def test_an_initial_node_that_is_terminal():
    space = bl.GraphSpace("only", lambda node: [], cost=lambda path: 3.0)
    scorer = bl.FunctionScorer(lambda path: 0.0)
    start = Node(None, "", False, 0.0, 0.0, 3.0, True)
    told = bl.beam_trajectory(space, scorer).chronicle()
    assert told == Chronicle(((start,),))
    assert told.path(0, start) == []
    assert told.best(start)
    assert told.winners == [0]
    assert len(bl.beam_search(space, scorer).chronicle().beams) == 1


def test_a_finished_hypothesis_waits_and_can_fall():
    """The short word ends first and is the right one, but a longer one scores higher."""
    following = {"": ["a", "b"], "b": ["bc", "bd"]}
    scores = {"a": 1.0, "b": 2.0, "bc": 4.0, "bd": 3.0}
    space = bl.GraphSpace(
        "", lambda word: following.get(word, []), cost=lambda path: float(path[-1] != "a")
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    chronicle = bl.beam_trajectory(space, scorer, width=2, finish="pad").chronicle()
    (fall,) = chronicle.falls
    assert (fall.step, fall.lost.name, fall.lost.moved, fall.rank) == (2, "a", False, 3)
    assert chronicle.path(fall.step, fall.lost) == ["a"]
    assert chronicle.path(fall.step, fall.rival) == ["b", "bc"]


def test_where_a_strategy_stops_the_whole_beam_is_kept():
    following = {"": ["a", "b", "c"], "a": ["aa"], "b": ["bb"], "c": ["cc"]}
    scores = {"a": 3.0, "b": 2.0, "c": 1.0}
    space = bl.GraphSpace(
        "", lambda word: following.get(word, []), cost=lambda path: float(path[-1] != "cc")
    )
    scorer = bl.FunctionScorer(lambda path: scores[path[-1]])
    chronicle = bl.beam_trajectory(space, scorer, width=2, strategy="stop").chronicle()
    assert [[(n.name, n.kept) for n in beam] for beam in chronicle.beams[1:]] == [
        [("a", True), ("b", True)]
    ]
    assert [fall.lost.name for fall in chronicle.falls] == ["c"]


def test_records_are_rows_of_a_table():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 2 else [], lambda p: 0.0)
    chronicle = bl.beam_search(space, bl.FunctionScorer(lambda p: p[-1].count("b")), 2).chronicle()
    records = chronicle.records()
    assert len(records) == sum(map(len, chronicle.beams)) == 5
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
        result.chronicle(1)
