from itertools import product
from math import e, log

import pytest
import torch
from generate import beams, scorer_of, tensors, trees
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.losses import with_options
from beamlearn.losses.baselines import SURROGATES
from beamlearn.theory.loss_bounds import linear_score_range, loss_bound, trajectory_bound

BOUNDED = {name: loss for name, loss in SURROGATES.items() if loss.largest is not None}
names = pytest.mark.parametrize("name", BOUNDED)


def corners(n, score_range, cost_range):
    """All scores and costs that are at an end of their range."""
    rows = list(product((0.0, 1.0), repeat=2 * n))
    ends = torch.tensor(rows, dtype=torch.float64)
    return ends[:, :n] * score_range, ends[:, n:] * cost_range


@names
@pytest.mark.parametrize(
    ("score_range", "cost_range"), [(0.5, 2.0), (3.0, 0.25), (0.0, 1.0), (2.0, 1e-6)]
)
def test_the_bound_is_attained(name, score_range, cost_range):
    for n, k in product(range(1, 6), range(1, 6)):
        bound = loss_bound(
            name, score_range=score_range, cost_range=cost_range, width=k, neighbors=n
        )
        largest = SURROGATES[name](*corners(n, score_range, cost_range), k).max().item()
        if name == "minimum_risk" and n <= k:  # approached where scores are far apart
            assert largest <= bound
        else:
            assert largest == pytest.approx(bound, abs=1e-9), (n, k)


@names
@given(batch=beams(distinct=True))
def test_the_bound_is_never_exceeded(name, batch):
    for row, value in zip(batch, SURROGATES[name](*tensors(batch)).tolist(), strict=True):
        bound = loss_bound(
            name,
            score_range=max(row.s) - min(row.s),
            cost_range=max(row.c) - min(row.c),
            width=row.k,
            neighbors=len(row.s),
        )
        assert value <= bound + 1e-9


@names
def test_the_bound_is_never_exceeded_inside_the_ranges(name, generator):
    for n, k in product((1, 2, 3, 6, 11), (1, 2, 5, 8)):
        scores = 3 * torch.rand(2000, n, generator=generator, dtype=torch.float64)
        costs = 2 * torch.rand(2000, n, generator=generator, dtype=torch.float64)
        bound = loss_bound(name, score_range=3.0, cost_range=2.0, width=k, neighbors=n)
        assert SURROGATES[name](scores, costs, k).max().item() <= bound + 1e-9


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("margin_last", {"rival": "outside"}),
        ("cost_sensitive_margin_last", {"rival": "outside"}),
        ("upper_bound", {"best": "best_scored"}),
        ("log_loss_beam", {"best": "best_scored"}),
        ("upper_bound", {"best": "all"}),
        ("log_loss_beam", {"best": "all"}),
        ("log_loss_neighbors", {"best": "all"}),
        ("softmax_margin_beam", {"best": "all"}),
        ("optimal_completion", {"temperature": 0.3}),
        ("minimum_risk", {"sharpness": 5.0}),
    ],
)
def test_the_bound_holds_for_all_options(name, options):
    loss = with_options(SURROGATES[name], **options)
    for n, k in product(range(1, 6), range(1, 6)):
        bound = loss_bound(name, score_range=1.5, cost_range=2.0, width=k, neighbors=n)
        assert loss(*corners(n, 1.5, 2.0), k).max().item() <= bound + 1e-9


@names
@given(
    st.floats(0, 9),
    st.floats(0, 9),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(0, 9),
    st.floats(0, 9),
    st.integers(0, 9),
)
def test_wider_ranges_and_more_neighbors_raise_the_bound(name, s, c, k, n, more_s, more_c, more_n):
    here = loss_bound(name, score_range=s, cost_range=c, width=k, neighbors=n)
    there = loss_bound(
        name, score_range=s + more_s, cost_range=c + more_c, width=k, neighbors=n + more_n
    )
    assert 0 <= here <= there + 1e-12


def test_bounds_by_hand():
    def bound(name, k=2, n=5):
        return loss_bound(name, score_range=3.0, cost_range=2.0, width=k, neighbors=n)

    assert bound("perceptron_first") == bound("perceptron_last") == 3.0
    assert bound("margin_last") == 4.0
    assert bound("cost_sensitive_margin_last") == bound("upper_bound") == 8.0
    assert bound("log_loss_beam") == pytest.approx(log(1 + 2 * e**3))
    assert bound("log_loss_neighbors") == pytest.approx(log(1 + 4 * e**3))
    assert bound("cost_sensitive_margin_beam") == 5.0
    assert bound("softmax_margin_beam") == pytest.approx(log(2) + 5)
    assert bound("softmax_margin_beam", k=8) == pytest.approx(log(1 + 4 * e**5))
    assert bound("weighted_pairs_all") == bound("weighted_pairs_bipartite") == 8.0 * 6
    assert bound("weighted_pairs_hybrid") == 8.0 * 6
    assert bound("weighted_pairs_bipartite", k=1) == bound("weighted_pairs_hybrid", k=1) == 8.0 * 4
    assert bound("weighted_pairs_bipartite", k=4) == 8.0 * 4
    assert bound("weighted_pairs_hybrid", k=4) == bound("weighted_pairs_hybrid", k=9) == 8.0 * 6


def test_far_scores_do_not_overflow():
    bound = loss_bound(
        "log_loss_neighbors", score_range=5000.0, cost_range=1.0, width=1, neighbors=3
    )
    assert bound == pytest.approx(5000 + log(2))


@pytest.mark.parametrize("finish", ["pad", "first"])
@given(tree=trees(root_terminal=False), k=st.integers(1, 5))
def test_no_trajectory_exceeds_its_bound(finish, tree, k):
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, finish=finish)
    visited = [transition.neighbors for transition in path.transitions]
    most = [int(neighbors.mask.sum()) for neighbors in visited]
    exact = {
        "horizon": len(visited) + 1,
        "score_range": lambda step: spread(visited[step - 1], "unmasked_scores"),
        "cost_range": lambda step: spread(visited[step - 1], "unmasked_costs"),
        "width": k,
        "neighbors": lambda step: most[step - 1],
    }
    coarse = exact | {
        "score_range": max(tree.scores.values()) - min(tree.scores.values()),
        "cost_range": max(tree.completion.values()) - min(tree.completion.values()),
        "neighbors": max(most),
    }
    for name, loss in BOUNDED.items():
        largest = trajectory_bound(name, **exact)
        assert path.losses(loss).item() <= largest + 1e-5
        assert largest <= trajectory_bound(name, **coarse) + 1e-9
        mean = path.losses(loss, "mean").item()
        assert mean <= trajectory_bound(name, **exact, mean=True) + 1e-5


def spread(neighbors, field):
    values = getattr(neighbors, field)[neighbors.mask]
    return float(values.max() - values.min())


def test_trajectory_bounds_by_hand():
    fixed = {"score_range": 3.0, "cost_range": 1.0, "width": 4}
    assert trajectory_bound("margin_last", horizon=1, **fixed, neighbors=9) == 0.0
    assert trajectory_bound("margin_last", horizon=4, **fixed, neighbors=9) == 12.0
    assert trajectory_bound("margin_last", horizon=4, **fixed, neighbors=9, mean=True) == 4.0
    assert trajectory_bound("minimum_risk", horizon=4, **fixed, neighbors=9) == 1.0
    growing = trajectory_bound(
        "perceptron_first",
        horizon=4,
        score_range=linear_score_range(0.5, 2.0, accumulate=True),
        cost_range=lambda step: 1.0 / step,
        width=4,
        neighbors=lambda step: step,
    )
    assert growing == 4.0 + 6.0


def test_a_terminal_beam_is_a_singleton():
    bound = trajectory_bound(
        "upper_bound", horizon=2, score_range=3.0, cost_range=1.0, width=4, neighbors=3
    )
    assert bound == 4.0


@given(st.lists(st.floats(-1, 1), min_size=12, max_size=12), st.booleans())
def test_linear_scores_stay_in_their_range(numbers, accumulate):
    features = torch.tensor(numbers, dtype=torch.float64).view(2, 3, 2)
    weights = torch.tensor([0.6, -0.8], dtype=torch.float64)
    scores = (features @ weights).sum(dim=1) if accumulate else (features @ weights)[:, 0]
    norm = float(features.norm(dim=-1).max())
    step = 3 if accumulate else 1
    allowed = linear_score_range(1.0, norm, accumulate=accumulate)(step)
    assert float(scores.max() - scores.min()) <= allowed + 1e-9


def test_linear_score_range_by_hand():
    assert linear_score_range(2.0, 3.0, accumulate=True)(5) == 60.0
    assert linear_score_range(2.0, 3.0, accumulate=False)(5) == 12.0


def test_refusals():
    fixed = {"score_range": 1.0, "cost_range": 1.0, "width": 2, "neighbors": 3}
    with pytest.raises(ValueError, match="no loss called 'uper_bound'. Did you"):
        loss_bound("uper_bound", **fixed)
    for name, value in (("score_range", -1.0), ("cost_range", float("inf"))):
        with pytest.raises(ValueError, match=f"`{name}` must be a finite number of at least 0"):
            loss_bound("upper_bound", **(fixed | {name: value}))
    with pytest.raises(ValueError, match="`neighbors` must be at least 1, got 0"):
        loss_bound("upper_bound", **(fixed | {"neighbors": 0}))
    with pytest.raises(ValueError, match="`width` must be at least 1"):
        loss_bound("upper_bound", **(fixed | {"width": 0}))
    with pytest.raises(ValueError, match="`horizon` must be at least 1, got 0"):
        trajectory_bound("upper_bound", horizon=0, **fixed)
    with pytest.raises(ValueError, match="`radius` must be a finite number of at least 0"):
        linear_score_range(-1.0, 1.0, accumulate=True)
    with pytest.raises(ValueError, match="`feature_norm` must be a finite number of at least 0"):
        linear_score_range(1.0, float("nan"), accumulate=True)


def test_a_loss_function_instead_of_its_name():
    ranges = {"score_range": 3.0, "cost_range": 2.0, "width": 2, "neighbors": 6}
    for name, loss in BOUNDED.items():
        assert loss_bound(loss, **ranges) == loss_bound(name, **ranges)
        increased = bl.losses.only_on_increase(loss)
        assert loss_bound(increased, **ranges) == loss_bound(name, **ranges)
        bounds = (trajectory_bound(one, horizon=4, **ranges) for one in (loss, name, increased))
        assert len(set(bounds)) == 1


def test_all_losses_but_one_have_a_bound():
    """A weight is as large as an output that was hardly expected in the sample is unlikely."""
    assert SURROGATES.keys() - BOUNDED.keys() == {"minimum_risk_sampled"}


def test_a_loss_without_a_bound_is_refused():
    def own(scores, costs, width, mask=None):
        return scores.sum(dim=-1)

    ranges = {"score_range": 3.0, "cost_range": 2.0, "width": 2, "neighbors": 6}
    with pytest.raises(ValueError, match="declares its largest value, but 'own' does not; declare"):
        loss_bound(own, **ranges)
    declared = bl.losses.surrogate(convex=True, bounds_cost=False, needs="best")(own)
    with pytest.raises(ValueError, match="but 'own' does not"):
        trajectory_bound(declared, horizon=3, **ranges)
