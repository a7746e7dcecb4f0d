from dataclasses import replace

import pytest
from torch import tensor

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.evaluation.wrong_examples import blame, error_kind, worst_examples, wrong_examples

COSTS = tensor([0.0, 3.0, 1.0, 4.0, 3.0])
REGRETS = tensor([0.0, 2.0, 0.0, 4.0, 3.0])
FOUND = Evaluation(
    COSTS,
    REGRETS,
    tensor([0, 1, 0, 2, 1]),
    tensor([False, True, False, False, True]),
)


def test_errors_are_of_the_search_or_of_the_model():
    assert wrong_examples(FOUND) == [1, 3, 4]
    assert wrong_examples(FOUND, "search") == [1, 4]
    assert wrong_examples(FOUND, "model") == [3]
    assert [blame(FOUND, place) for place in range(5)] == [None, "search", None, "model", "search"]


def test_the_worst_cost_most_and_the_first_of_equals_comes_first():
    assert worst_examples(FOUND, 3) == [3, 1, 4]
    assert worst_examples(FOUND, 9) == [3, 1, 4, 2]  # what costs nothing is not bad


def test_blame_needs_references():
    with pytest.raises(ValueError, match="`found` must hold search errors, got none; call"):
        wrong_examples(replace(FOUND, search_errors=None), "search")


def test_kinds_by_name():
    assert error_kind("search") == "search"
    with pytest.raises(ValueError, match="no errors called 'modell'. Did you mean 'model'"):
        error_kind("modell")
