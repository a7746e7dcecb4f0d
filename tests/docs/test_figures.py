"""The figures are those that the code draws, and they show what is true."""

from xml.etree import ElementTree

import pytest
from figures import loss_curves, pictures, small_tree
from figures.demo import demo
from figures.rooms import rooms
from website.repository import ROOT

import beamlearn as bl

FIGURES = {**pictures.PICTURES, "demo": demo, "rooms": rooms}


@pytest.mark.parametrize("name", FIGURES)
def test_the_file_is_what_the_code_draws(name):
    drawn = FIGURES[name]()
    ElementTree.fromstring(drawn)
    kept = (ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == kept, "run `PYTHONPATH=docs .venv/bin/python -m figures`"


@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize("name", bl.losses.LOSSES)
def test_curves_have_the_declared_properties(name, place):
    loss = bl.losses.LOSSES[name]
    values = [value for _, value in loss_curves.curve(loss, place)]
    costs = [cost for _, cost in loss_curves.transition_cost(place)]
    assert max(costs) > min(costs) or place == 4
    if loss.bounds_cost:
        assert all(value >= cost - 1e-9 for value, cost in zip(values, costs, strict=True))
    if loss.convex:
        bent = zip(values, values[1:], values[2:], strict=False)
        assert all(a + c - 2 * b >= -1e-9 for a, b, c in bent)


def test_the_tree_tells_its_story():
    greedy = small_tree.visited(bl.strategies.Continue())
    assert greedy == [[""], ["a", "b"], ["a1", "a2"], ["a1x"]]
    assert small_tree.visited(bl.strategies.Stop()) == greedy[:2]
    assert small_tree.visited(bl.strategies.Reset())[1:3] == [["c"], ["c1", "c2"]]
    assert small_tree.completion_cost("") == 0
    assert small_tree.visited(bl.strategies.Oracle())[-1] == ["c1y"]
