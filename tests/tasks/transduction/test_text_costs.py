"""Costs of texts, by name and by function."""

import math
from types import SimpleNamespace

import pytest

from beamlearn.search.output_cost import CostError
from beamlearn.tasks.transduction.cost_names import ROLLED_OUT
from beamlearn.tasks.transduction.text_costs import TEXT_COSTS, cost_of_outputs, text_cost_named
from beamlearn.training.settings import SettingsError


def test_names():
    assert tuple(TEXT_COSTS) == ROLLED_OUT


@pytest.mark.parametrize("name", ROLLED_OUT)
def test_a_right_output_costs_nothing_and_a_wrong_one_something(name):
    if name == "rouge-l":
        pytest.importorskip("rouge_score")
    cost = text_cost_named(name)
    right = "the dog barks at the cat"
    assert cost(right, right) == pytest.approx(0.0, abs=1e-9)
    assert 0 < cost("the dog barks at the moon", right) <= 1
    assert cost("xyz", right) == pytest.approx(1.0, abs=0.05)
    assert 0.9 <= cost("", right) <= 1


def test_values():
    pytest.importorskip("rouge_score")
    found = text_cost_named("rouge-l")("the cat sat", "the cat sat down")
    assert found == pytest.approx(1 - 2 * (1 * 0.75) / 1.75)


@pytest.mark.parametrize("value", [math.nan, math.inf, "three"])
def test_a_metric_that_says_no_number_is_named_with_the_texts(value, monkeypatch):
    monkeypatch.setattr(math, "dist", lambda output, reference: value)
    cost = cost_of_outputs("math:dist", lambda tokens: " ".join(map(str, tokens)))
    with pytest.raises(CostError, match="for the output '3 4' of 'three four'"):
        cost(SimpleNamespace(texts=("three four",)), [3, 4])


def test_a_function_of_ones_own():
    assert text_cost_named("math:dist") is math.dist


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chf", "There is no cost of roll-outs called 'chf'. Did you mean 'chrf'"),
        ("no.such.module:f", "must name a function that can be imported, but No module named"),
        ("math:no", "must name a function that can be imported, but module 'math' has no"),
        ("math:pi", "must name a function of an output and a reference, got 3.14"),
    ],
)
def test_what_is_no_function_is_refused(name, message):
    with pytest.raises(SettingsError, match=message):
        text_cost_named(name)
