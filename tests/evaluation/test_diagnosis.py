import by_the_book
import pytest
import torch
from generate import finishes, numbered, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import GenerationSpace, HammingTask, HashedScorer, TableScorer

import beamlearn as bl
from beamlearn.evaluation.diagnosis import TENTHS, Diagnosis
from beamlearn.evaluation.evaluate import evaluate_search, merge_evaluations
from beamlearn.evaluation.wider_search import WiderSearch

widths = st.sampled_from([1, 2, 3, 5, 100])


def searched(space, scorer, width, finish=None):
    result = bl.beam_search(space, scorer, width, finish=finish)
    return evaluate_search(result, scorer, finish=finish)


def by_definition(tree, k, finish):
    """What became of the best output of a tree, in plain Python."""
    beams, ranked = by_the_book.beam_search(tree.neighbors, tree.score, (), k, finish)
    optimum = tree.cstar(())
    visited = [*beams[:-1], ranked]
    least = [min(map(tree.cstar, beam)) for beam in visited]
    lost = [i for i in range(len(visited) - 1) if least[i + 1] > optimum]
    sizes = [len(by_the_book.neighbors_of_beam(tree.neighbors, beam)) for beam in beams[:-1]]
    return {
        "list_cost": least[-1],
        "lost_at": lost[0] if lost else -1,
        "steps": len(beams) - 1,
        "pruned": any(len(b) < n for b, n in zip(visited[1:], sizes, strict=True)),
        "cost": tree.costs[ranked[0]],
        "optimum": optimum,
    }


@settings(max_examples=40)
@given(st.lists(trees(), min_size=1, max_size=5), widths, finishes)
def test_fates_by_definition(forest, k, finish):
    fates = searched(stacked(forest), stacked_scorer(forest), k, finish).fates
    expected = [by_definition(tree, k, finish) for tree in forest]
    assert fates.list_costs.tolist() == [one["list_cost"] for one in expected]
    assert fates.lost_at.tolist() == [one["lost_at"] for one in expected]
    assert fates.steps.tolist() == [one["steps"] for one in expected]
    assert fates.pruned.tolist() == [one["pruned"] for one in expected]
    assert fates.listed.tolist() == [one["list_cost"] == one["optimum"] for one in expected]


@settings(max_examples=40)
@given(st.lists(trees(), min_size=1, max_size=6), widths, finishes)
def test_counts_by_definition(forest, k, finish):
    evaluation = searched(stacked(forest), stacked_scorer(forest), k, finish)
    found = Diagnosis.of(k, evaluation)
    one = [by_definition(tree, k, finish) for tree in forest]
    right = sum(e["cost"] == e["optimum"] for e in one)
    listed = sum(e["cost"] > e["optimum"] == e["list_cost"] for e in one)
    falls = [e for e in one if e["list_cost"] > e["optimum"]]
    assert (found.right, found.listed, found.fallen) == (right, listed, len(falls))
    assert found.examples == len(forest)
    assert found.improvable == sum(e["list_cost"] < e["cost"] for e in one)
    assert found.exhausted == sum(not e["pruned"] for e in one)
    assert found.search_errors + found.model_errors == listed + len(falls)
    n = len(forest)
    assert found.cost == pytest.approx(sum(e["cost"] for e in one) / n)
    assert found.regret == pytest.approx(sum(e["cost"] - e["optimum"] for e in one) / n)
    assert found.list_regret == pytest.approx(sum(e["list_cost"] - e["optimum"] for e in one) / n)
    at = [e["lost_at"] for e in falls]
    assert list(found.fallen_at) == [at.count(i) for i in range(max(at, default=-1) + 1)]
    parts = [TENTHS * e["lost_at"] // e["steps"] for e in falls]
    assert list(found.fallen_in) == [parts.count(i) for i in range(TENTHS)]
    if at:
        assert found.middle == sorted(at)[(len(at) - 1) // 2] + 1
    else:
        assert found.middle is None


@settings(max_examples=15)
@given(st.lists(trees(), min_size=2, max_size=5), widths, finishes, st.randoms())
def test_batch_law(forest, k, finish, random):
    scorer = stacked_scorer(forest)
    whole = searched(stacked(forest), scorer, k, finish)
    alone = [searched(numbered(i, tree), scorer, k, finish) for i, tree in enumerate(forest)]
    order = random.sample(range(len(forest)), len(forest))
    mixed = merge_evaluations([alone[i] for i in order]).placed(torch.tensor(order))
    assert Diagnosis.of(k, mixed) == Diagnosis.of(k, whole)
    some = torch.tensor(order[:2])
    taken = Diagnosis.of(k, whole.take(some))
    assert taken == Diagnosis.of(k, merge_evaluations([alone[i] for i in order[:2]]))


def test_a_beam_wider_than_all_outputs_loses_nothing():
    space = GenerationSpace([(1, 2, 0), (0,), (2, 2)], [3, 2, 2], 3)
    found = Diagnosis.of(1000, searched(space, HashedScorer().double(), 1000))
    assert (found.fallen, found.list_regret, found.exhausted) == (0, 0.0, 3)
    assert found.fallen_at == ()
    assert found.search_errors == 0
    narrow = Diagnosis.of(1, searched(space, HashedScorer().double(), 1))
    assert narrow.listed == narrow.improvable == narrow.exhausted == 0
    assert narrow.list_regret == narrow.regret


def test_outputs_without_cost_are_right():
    gold = [[0, 1], [1], [0, 0, 1]]
    space = HammingTask(2).space(gold)
    table = torch.zeros(3, 3, 2)
    for step in range(3):  # the sentences agree wherever they overlap but at the first word
        table[step, :, :] = torch.tensor([0.0, 1.0])
    found = Diagnosis.of(4, searched(space, TableScorer(table), 4))
    assert found.examples == 3
    assert found.right == 1  # [1]
    assert found.right + found.listed + found.fallen == 3


def garden_path(scores):
    """Four outputs: aa, ab, ba and bb, of which bb is right and the others cost 1."""
    space = bl.GraphSpace(
        "",
        lambda w: [w + "a", w + "b"] if len(w) < 2 else [],
        cost=lambda path: float(path[-1] != "bb"),
    )
    return space, bl.FunctionScorer(lambda path: scores.get(path[-1], 0.0))


def test_ties_go_against_the_model():
    space, scorer = garden_path({})
    found = Diagnosis.of(4, searched(space, scorer, 4))
    assert (found.right, found.listed, found.fallen) == (0, 1, 0)
    assert (found.search_errors, found.model_errors) == (0, 1)
    narrow = Diagnosis.of(2, searched(space, scorer, 2))
    assert (narrow.fallen, narrow.fallen_at, narrow.model_errors) == (1, (0, 1), 1)


def test_search_errors_and_model_errors():
    lost, scorer = garden_path({"a": 1.0, "bb": 5.0})
    found = Diagnosis.of(1, searched(lost, scorer, 1))
    assert (found.fallen, found.search_errors, found.model_errors) == (1, 1, 0)
    assert found.fallen_in == (1, *[0] * 9)
    disliked, scorer = garden_path({"aa": 2.0, "bb": 1.0})
    found = Diagnosis.of(2, searched(disliked, scorer, 2))
    assert (found.listed, found.search_errors, found.model_errors) == (1, 0, 1)


def test_a_diagnosis_needs_lists():
    space, scorer = garden_path({})
    found = bl.evaluate([[0]], bl.GraphTask(lambda _: space), scorer, 2, references=True)
    with pytest.raises(ValueError, match="needs the n-best lists.*use `evaluate_search`"):
        Diagnosis.of(2, found)


@settings(max_examples=15)
@given(st.lists(trees(), min_size=1, max_size=5), st.integers(1, 2), st.sampled_from([3, 100]))
def test_what_an_exact_search_changes(forest, k, wide):
    space, scorer = stacked(forest), stacked_scorer(forest)
    usual = searched(space, scorer, k).costs
    found = WiderSearch.of(k, usual, wide, searched(space, scorer, wide))
    each = [(by_definition(t, k, "pad"), by_definition(t, wide, "pad")) for t in forest]
    assert found.better == sum(b["cost"] < a["cost"] for a, b in each)
    assert found.worse == sum(b["cost"] > a["cost"] for a, b in each)
    assert found.fallen == sum(b["lost_at"] >= 0 for _, b in each)
    assert found.exhausted == sum(not b["pruned"] for _, b in each)
    assert found.after == pytest.approx(sum(b["cost"] for _, b in each) / len(forest))
    if wide == 100:
        assert found.exact
        assert found.way.startswith("exhaustive search of ")
