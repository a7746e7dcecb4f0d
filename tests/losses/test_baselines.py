import by_the_book
import pytest
import torch
from generate import beams, scorer_of, tensors, trees
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.algorithms import BASELINES
from beamlearn.losses import with_options
from beamlearn.losses.baselines import BASELINE_LOSSES, minimum_risk, optimal_completion

names = pytest.mark.parametrize("name", BASELINE_LOSSES)


def test_rows():
    found = {n: (type(r.strategy).__name__, r.loss.__name__, r.width) for n, r in BASELINES.items()}
    assert found == {
        "optimal_completion": ("Continue", "optimal_completion", 1),
        "minimum_risk": ("Continue", "minimum_risk", 8),
    }
    assert list(BASELINE_LOSSES) == list(by_the_book.BASELINES)


@names
@given(beams())
def test_value_is_the_equation(name, batch):
    values = BASELINE_LOSSES[name](*tensors(batch))
    expected = [by_the_book.BASELINES[name](row.s, row.c, row.k) for row in batch]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)


@given(beams(), st.sampled_from([0.25, 1.0, 4.0]))
def test_options(batch, value):
    scores, costs, width, mask = tensors(batch)
    soft = with_options(optimal_completion, temperature=value)(scores, costs, width, mask)
    sharp = with_options(minimum_risk, sharpness=value)(scores, costs, width, mask)
    book = by_the_book
    assert soft.tolist() == pytest.approx(
        [book.optimal_completion(row.s, row.c, row.k, value) for row in batch], abs=1e-9
    )
    assert sharp.tolist() == pytest.approx(
        [book.minimum_risk(row.s, row.c, row.k, value) for row in batch], abs=1e-9
    )


@names
@given(beams(distinct=True))
def test_gradient_is_finite_and_that_of_the_equation(name, batch):
    scores, costs, width, mask = tensors(batch)
    scores.requires_grad_()
    BASELINE_LOSSES[name](scores, costs, width, mask).sum().backward()
    assert torch.isfinite(scores.grad[mask]).all()
    assert not scores.grad[~mask].any()
    step = 1e-6
    for row, gradient, there in zip(batch, scores.grad, mask, strict=True):
        for i, slope in enumerate(gradient[there].tolist()):
            up, down = list(row.s), list(row.s)
            up[i] += step
            down[i] -= step
            value = by_the_book.BASELINES[name]
            expected = (value(up, row.c, row.k) - value(down, row.c, row.k)) / (2 * step)
            assert slope == pytest.approx(expected, abs=1e-4)


def test_a_row_without_neighbors():
    scores, costs = torch.zeros(1, 3), torch.zeros(1, 3)
    for loss in BASELINE_LOSSES.values():
        assert loss(scores, costs, 2, torch.zeros(1, 3, dtype=torch.bool)).tolist() == [0.0]


def test_a_temperature_below_zero_is_refused():
    with pytest.raises(ValueError, match="`temperature` must be at least 0, got -1"):
        optimal_completion(torch.zeros(1, 2), torch.zeros(1, 2), 1, temperature=-1)


@pytest.mark.parametrize("finish", ["pad", "first"])
@given(tree=trees(root_terminal=False), k=st.integers(1, 5))
def test_risk_is_that_of_the_final_list(finish, tree, k):
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, finish=finish)
    risk = path.losses(minimum_risk).item()
    found = bl.beam_search(tree.space(), scorer_of(tree), width=k, finish=finish)
    scores = [way.score for way in found.nbest[0]]
    costs = [tree.cstar(way.output[-1]) for way in found.nbest[0]]
    last = path.transitions[-1].neighbors
    least = last.costs[last.mask & last.terminals().flatten(1)].min().item()
    expected = by_the_book.minimum_risk(scores, costs, k) + min(costs) - least
    assert risk == pytest.approx(expected, abs=1e-6)


def test_there_is_no_risk_where_a_trajectory_stops():
    """Both nodes of the next beam have ended, but it is not final: that would be one of them."""
    graph = {"": ["a", "b", "c"], "c": ["d"]}
    cost = {"a": 2.0, "b": 3.0, "d": 0.0}
    space = bl.GraphSpace("", lambda node: graph.get(node, []), cost=lambda path: cost[path[-1]])
    scorer = bl.FunctionScorer(lambda path: -ord(path[-1]))
    risks = {
        strategy: bl.beam_trajectory(space, scorer, 2, strategy=strategy).losses(minimum_risk)
        for strategy in ("stop", "continue")
    }
    assert risks["stop"].tolist() == [0.0]
    assert risks["continue"].item() > 0


def test_learn_knows_them_by_name():
    space = bl.GraphSpace("", lambda word: ["a", "b"] if not word else [], cost=len)
    scorer = bl.LinearScorer(lambda path: {path[-1]: 1.0}, size=8)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    task = bl.GraphTask(lambda _: space)
    for loss in BASELINE_LOSSES:
        assert len(list(bl.learn([[1]], task, scorer, optimizer, loss=loss, width=2))) == 1
