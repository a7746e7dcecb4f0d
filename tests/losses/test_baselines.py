import by_the_book
import pytest
import torch
from generate import beams, scorer_of, tensors, trees
from hypothesis import given
from hypothesis import strategies as st
from spaces import GenerationSpace, RecurrentScorer

import beamlearn as bl
from beamlearn.algorithms import BASELINES
from beamlearn.losses import with_options
from beamlearn.losses.baselines import (
    BASELINE_LOSSES,
    minimum_risk,
    minimum_risk_sampled,
    optimal_completion,
)

names = pytest.mark.parametrize("name", BASELINE_LOSSES)


def test_rows():
    found = {n: (type(r.strategy).__name__, r.loss.__name__, r.width) for n, r in BASELINES.items()}
    assert found == {
        "optimal_completion": ("Continue", "optimal_completion", 1),
        "minimum_risk": ("Continue", "minimum_risk", 8),
        "minimum_risk_sampled": ("Sample", "minimum_risk_sampled", 8),
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
    scorer.accumulate, scorer.normalize = True, "log_softmax"
    for name, row in BASELINES.items():
        rounds = bl.learn([[1]], task, scorer, optimizer, loss=name, strategy=row.strategy, width=2)
        assert len(list(rounds)) == 1


# --- samples -------------------------------------------------------------------------------------


@given(beams(), st.randoms(use_true_random=False))
def test_sampled_outputs_are_weighted(batch, random):
    scores, costs, width, mask = tensors(batch)
    chances = [[random.choice([0.0, 0.25, 1.0]) for _ in row.s] for row in batch]
    padded = [row.padded(q) for row, q in zip(batch, chances, strict=True)]
    log_q = torch.tensor(padded, dtype=torch.float64).abs().log()
    scores.requires_grad_()
    values = minimum_risk_sampled(scores, costs, width, mask, log_inclusion=log_q)
    book = by_the_book.minimum_risk_sampled
    expected = [book(row.s, row.c, row.k, q) for row, q in zip(batch, chances, strict=True)]
    assert values.tolist() == pytest.approx(expected)
    values.sum().backward()
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[~mask].any()


DRAWS = 4000


def drawn_path(k, **options):
    """The trajectories of one example, drawn so many times."""
    space = GenerationSpace([(1, 2)] * DRAWS, [3] * DRAWS, 3)
    scorer = RecurrentScorer(1, 3, seed=1)
    scorer.contexts = torch.nn.Parameter(scorer.contexts.detach().repeat(DRAWS, 1))
    generator = torch.Generator().manual_seed(0)
    path = bl.beam_trajectory(space, scorer, k, strategy="sample", generator=generator, **options)
    return path, scorer


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3])
def test_the_risk_of_a_sample_is_unbiased(k):
    """Value and gradient against the sum over all outputs, in standard errors of 4000 draws."""
    path, scorer = drawn_path(k)
    found = path.losses(minimum_risk_sampled)
    found.sum().backward()
    every = path.space.__class__([(1, 2)], [3], 3)
    exact = RecurrentScorer(1, 3, seed=1)
    listed = bl.beam_search(every, exact, 100, gradients=True)
    costs = torch.tensor([every.cost(0, way.output) for way in listed.nbest[0]])
    risk = (listed.nbest_scores[listed.nbest_mask].exp() * costs).sum()
    risk.backward()
    for values, expected in ((found[:, None], risk), (scorer.contexts.grad, exact.contexts.grad)):
        error = values.std(dim=0) / DRAWS**0.5
        assert bool((error > 0).all())
        assert ((values.mean(dim=0) - expected).abs() < 4 * error).all()
    renormalized = path.losses(minimum_risk).detach()
    error = float(renormalized.std()) / DRAWS**0.5
    assert abs(float(renormalized.mean()) - risk.item()) > 10 * error  # the other one is biased


def test_a_sample_of_everything_is_exact():
    space, scorer = GenerationSpace([(1, 2)], [3], 3), RecurrentScorer(1, 3, seed=1)
    listed = bl.exhaustive_search(space, scorer)
    expected = sum(by_the_book.exp(w.score) * space.cost(0, w.output) for w in listed.nbest[0])
    path = bl.beam_trajectory(space, scorer, 15, strategy="sample")
    assert path.losses(minimum_risk_sampled).item() == pytest.approx(expected)
    assert path.replay(scorer).losses(minimum_risk_sampled).item() == pytest.approx(expected)


@pytest.mark.parametrize(
    "options", [{"strategy": "continue"}, {"strategy": "sample", "finish": "first"}]
)
def test_the_risk_of_a_sample_needs_a_sample(options):
    space, scorer = GenerationSpace([(1, 2)], [3], 3), RecurrentScorer(1, 3)
    path = bl.beam_trajectory(space, scorer, 2, **options)
    with pytest.raises(ValueError, match="'minimum_risk_sampled' needs beams that are sampled"):
        path.losses(minimum_risk_sampled)
