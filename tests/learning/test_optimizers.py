from copy import deepcopy
from math import hypot, sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlearn.learning.optimizers import (
    FollowTheLeader,
    OnlineOptimizer,
    ProjectedGradient,
    project,
)

BOTH = (ProjectedGradient, FollowTheLeader)
numbers = st.integers(-20, 20).map(lambda x: x / 4)
rounds_of = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=8)


def in_ball(theta, radius):
    norm = hypot(*theta)
    return theta if radius is None or norm <= radius else [x * radius / norm for x in theta]


def by_the_book(kind, first, gradients, lr, radius):
    """Every iterate, in plain lists."""
    iterates, total = [list(first)], [0.0] * len(first)
    for t, gradient in enumerate(gradients, 1):
        total = [a + b for a, b in zip(total, gradient, strict=True)]
        start, pull = (iterates[-1], gradient) if kind is ProjectedGradient else (first, total)
        moved = [x - lr / sqrt(t) * g for x, g in zip(start, pull, strict=True)]
        iterates.append(in_ball(moved, radius))
    return iterates


def parameters(first, dtype=torch.float64):
    """Three weights in two tensors."""
    one, two = torch.tensor(first[:1], dtype=dtype), torch.tensor([first[1:]], dtype=dtype)
    return [torch.nn.Parameter(one), torch.nn.Parameter(two)]


def give(weights, gradient):
    weights[0].grad = weights[0].new_tensor(gradient[:1])
    weights[1].grad = weights[1].new_tensor([gradient[1:]])


def flat(weights):
    return [x for weight in weights for x in weight.detach().flatten().tolist()]


@pytest.mark.parametrize("kind", BOTH)
@given(
    first=st.tuples(numbers, numbers, numbers),
    gradients=rounds_of,
    lr=st.sampled_from([0.1, 1.0, 3.0]),
    radius=st.sampled_from([None, 0.5, 4.0]),
    groups=st.booleans(),
)
def test_iterates_are_those_of_the_book(kind, first, gradients, lr, radius, groups):
    weights = parameters(first)
    given = [{"params": [w]} for w in weights] if groups else weights
    optimizer = kind(given, lr=lr, radius=radius)
    for gradient, expected in zip(
        gradients, by_the_book(kind, first, gradients, lr, radius)[1:], strict=True
    ):
        give(weights, gradient)
        optimizer.step()
        assert flat(weights) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_projection_ends_on_the_ball_and_leaves_its_inside_alone(dtype):
    weights = [w.detach() for w in parameters((3.0, 4.0, 12.0), dtype)]
    project(weights, 26.0)
    assert flat(weights) == [3.0, 4.0, 12.0]
    project(weights, 6.5)
    assert flat(weights) == pytest.approx([1.5, 2.0, 6.0], rel=1e-6)


@pytest.mark.parametrize("kind", BOTH)
def test_a_saved_state_goes_on_to_the_same_weights(kind):
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn(20, 3, generator=generator).tolist()
    one, two = parameters((1.0, 2.0, -1.0), torch.float32), None
    optimizer = kind(one, lr=0.3, radius=2.0)
    for t, gradient in enumerate(gradients):
        if t == 7:
            two = [torch.nn.Parameter(w.detach().clone()) for w in one]
            other, saved = kind(two, lr=9.0), deepcopy(optimizer.state_dict())
            assert all(
                isinstance(v, torch.Tensor) for s in saved["state"].values() for v in s.values()
            )
            other.load_state_dict(saved)
        give(one, gradient)
        optimizer.step()
        if two is not None:
            give(two, gradient)
            other.step()
            assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("kind", BOTH)
def test_a_missing_gradient_is_one_of_zero(kind):
    found = []
    for missing in (True, False):
        weights = parameters((1.0, 1.0, 1.0))
        optimizer = kind(weights)
        for t in range(4):
            give(weights, (1.0, -1.0, 2.0))
            if t % 2 == 0:
                weights[1].grad = None if missing else torch.zeros_like(weights[1])
            optimizer.step()
        found.append(flat(weights))
    assert found[0] == found[1]
    untouched = torch.nn.Parameter(torch.ones(2))
    kind([untouched]).step()
    assert untouched.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", BOTH)
def test_sparse_gradients_count_like_dense_ones(kind):
    found = []
    for sparse in (True, False):
        table = torch.nn.Embedding(5, 2, sparse=sparse)
        torch.nn.init.ones_(table.weight)
        optimizer = kind(table.parameters(), lr=0.5, radius=2.0)
        for words in ([1, 3], [3, 3, 0]):
            optimizer.zero_grad()
            table(torch.tensor(words)).square().sum().backward()
            optimizer.step()
        found.append(table.weight.detach().clone())
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("kind", BOTH)
def test_a_closure_is_evaluated_with_gradients(kind):
    weight = torch.nn.Parameter(torch.tensor(3.0))
    optimizer = kind([weight], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = weight.square()
        loss.backward()
        return loss.item()

    assert optimizer.step(closure) == 9.0
    assert weight.item() == 0.0


@pytest.mark.parametrize("kind", BOTH)
def test_wrong_settings_are_refused(kind):
    weights = parameters((0.0, 0.0, 0.0))
    for lr in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="`lr` must be a number above 0, got"):
            kind(weights, lr=lr)
    with pytest.raises(ValueError, match="`radius` must be a number above 0, got 0.0"):
        kind(weights, radius=0.0)
    with pytest.raises(ValueError, match="`radius` must be the same for all parameters"):
        kind([{"params": weights, "radius": 1.0}])
    with pytest.raises(ValueError, match="`rounds` must be at least 1, got 0"):
        kind.regret_bound(0, lr=1.0, radius=1.0, gradient_bound=1.0)


def test_bounds_are_those_of_the_book():
    radius, steepest, lr, m = 1.5, 2.0, 0.3, 9
    eta = [lr / sqrt(t) for t in range(1, m + 1)]
    gradient = ((2 * radius) ** 2 / (2 * eta[-1]) + steepest**2 / 2 * sum(eta)) / m
    leader = ((2 * radius) ** 2 / (2 * eta[-2]) + steepest**2 / 2 * (lr + sum(eta[:-1]))) / m
    options = {"lr": lr, "radius": radius, "gradient_bound": steepest}
    assert ProjectedGradient.regret_bound(m, **options) == pytest.approx(gradient)
    assert FollowTheLeader.regret_bound(m, **options) == pytest.approx(leader)
    for kind in BOTH:
        assert kind.regret_bound(40_000, **options) < kind.regret_bound(400, **options) / 9.9


def losses(play, theta, rows):
    """l_t(theta) of all rounds: linear ones, or hinges."""
    margins = rows @ theta
    return margins if play != "hinge" else (1 - margins).relu()


def least(play, rows, radius):
    """The minimum over the ball of the summed losses, or nearly."""
    if play != "hinge":
        return -radius * float(rows.sum(dim=0).norm())
    theta = torch.zeros(rows.shape[1], dtype=rows.dtype)
    best = float(losses(play, theta, rows).sum())
    for t in range(1, 100):
        active = (1 - rows @ theta > 0).to(rows.dtype)
        theta = theta + radius / sqrt(t) * (active @ rows) / (active @ rows).norm().clamp(min=1e-9)
        project([theta], radius)
        best = min(best, float(losses(play, theta, rows).sum()))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("play", ["linear", "hinge", "adversary"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999), lr=st.sampled_from([0.05, 0.5, 2.0]))
def test_regret_stays_within_its_bound(kind: type[OnlineOptimizer], play, seed, lr):
    generator = torch.Generator().manual_seed(seed)
    m, radius = 60, 1.5
    rows = torch.randn(m, 3, generator=generator, dtype=torch.float64)
    rows = rows / rows.norm(dim=-1, keepdim=True)
    weight = torch.nn.Parameter(0.3 * rows[0])
    optimizer = kind([weight], lr=lr, radius=radius)
    incurred = 0.0
    for t in range(m):
        if play == "adversary" and float(rows[t] @ weight.detach()) < 0:
            rows[t] *= -1  # always against the weights that were just chosen
        optimizer.zero_grad()
        loss = losses(play, weight, rows[t : t + 1]).sum()
        loss.backward()
        optimizer.step()
        incurred += loss.item()
        if t + 1 in (1, 2, 5, 20, m):
            regret = (incurred - least(play, rows[: t + 1], radius)) / (t + 1)
            bound = kind.regret_bound(t + 1, lr=lr, radius=radius, gradient_bound=1.0)
            assert regret <= bound + 1e-9
