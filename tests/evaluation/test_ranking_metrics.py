"""Recall, NDCG and MRR are what plain Python and scikit-learn say."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.check import UsageError

ITEMS = list(range(8))
RANKINGS = st.permutations(ITEMS)
GRADES = st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.5, 1.0, 3.0]), min_size=1)
CUTS = st.none() | st.integers(1, 10)


@given(RANKINGS, GRADES, CUTS)
def test_by_the_book(ranked, grades, k):
    found = bl.ranking_metrics([ranked], [grades], k)
    top = ranked if k is None else ranked[:k]
    gained = sum(grades.get(item, 0) / log2(place + 2) for place, item in enumerate(top))
    ideal = sorted(grades.values(), reverse=True)[: len(top)]
    possible = sum(grade / log2(place + 2) for place, grade in enumerate(ideal))
    assert found.recall == pytest.approx(len(set(top) & set(grades)) / len(grades))
    assert found.ndcg == pytest.approx(gained / possible)
    first = min((place for place, item in enumerate(top, 1) if item in grades), default=None)
    assert found.mrr == pytest.approx(0 if first is None else 1 / first)


@given(st.lists(st.tuples(RANKINGS, GRADES), min_size=1, max_size=4), CUTS)
def test_ndcg_is_that_of_scikit_learn(cases, k):
    metrics = pytest.importorskip("sklearn.metrics")
    truth = np.array([[grades.get(item, 0) for item in ITEMS] for _, grades in cases])
    scores = np.array([[-ranked.index(item) for item in ITEMS] for ranked, _ in cases])
    found = bl.ranking_metrics(*zip(*cases, strict=True), k)
    assert found.ndcg == pytest.approx(metrics.ndcg_score(truth, scores, k=k))


def test_one_target_several_and_short_lists():
    found = bl.ranking_metrics([["a", "b"], ["c"], []], ["b", ["c", "d"], "a"], k=10)
    assert found.recalls.tolist() == [1.0, 0.5, 0.0]
    assert found.reciprocals.tolist() == [0.5, 1.0, 0.0]
    assert found.ndcgs.tolist() == pytest.approx([1 / log2(3), 1 / (1 + 1 / log2(3)), 0.0])
    assert str(found) == "recall 0.5000, NDCG 0.4147, MRR 0.5000"


def test_a_relevance_of_zero_is_none():
    assert bl.ranking_metrics([[1, 2]], [{1: 0.0, 2: 1.0}], k=1).recall == 0.0


@pytest.mark.parametrize(
    ("ranked", "targets", "k", "message"),
    [
        ([[1, 2, 1]], [1], None, r"`ranked\[0\]` must have each item once, got 1 twice"),
        ([[1]], [1, 2], None, "equally many lists, at least one, got 1 and 2"),
        ([], [], None, "at least one, got 0 and 0"),
        ([[1], [2]], [1, []], None, r"`targets\[1\]` must have at least one relevant"),
        ([[1]], [{1: -1.0}], None, "no relevance below 0"),
        ([[1]], [1], 0, "`k` must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(ranked, targets, k, message):
    error = ValueError if k == 0 else UsageError
    with pytest.raises(error, match=message):
        bl.ranking_metrics(ranked, targets, k)
