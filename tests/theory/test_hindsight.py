import pytest
import torch
from generate import beams, tensors
from hypothesis import given
from hypothesis import strategies as st
from spaces import HammingTask, RecurrentScorer, TableScorer

import beamlearn as bl
from beamlearn.learning.optimizers import ProjectedGradient, project
from beamlearn.losses import LOSSES, surrogate
from beamlearn.theory import hindsight_problem
from beamlearn.theory import tangents as bundle
from beamlearn.theory.hindsight import best_in_hindsight
from beamlearn.theory.hindsight_problem import Problem

CONVEX = [name for name, loss in LOSSES.items() if loss.convex]
GOALS = [["101", "10"], ["011"], ["110", "0", "101"]]


def spelling(goal):
    """Spell `goal`; the digits 0 and 1 cost what is wrong, and one may stop early."""

    def more(word):
        if len(word) == 3 or word.endswith("."):
            return []
        return [word + end for end in "01."]

    def cost(path):
        word = path[-1].rstrip(".")
        wrong = sum(a != b for a, b in zip(word, goal, strict=False))
        return float(wrong + 2 * abs(len(word) - len(goal)))

    return bl.GraphSpace("", more, cost=cost)


def pieces(path):
    word = path[-1]
    return {name: 1.0 + word.count(name) for name in (word[-1], word[-2:])}


def scorer_of(accumulate=False, dtype=torch.float64):
    scorer = bl.LinearScorer(pieces, size=12, dtype=dtype)
    scorer.accumulate = accumulate
    return scorer


def collect(loss, scorer, **options):
    """Trajectories of batches of different sizes."""
    optimizer = ProjectedGradient(scorer.parameters(), lr=0.5, radius=2.0)
    options = {"loss": loss, "width": 2, "trajectories": True} | options
    rounds = bl.learn(GOALS, bl.GraphTask(spelling), scorer, optimizer, **options)
    return [round.trajectory for round in rounds]


def average(paths, scorer, loss, reduction="sum"):
    """The average over examples, by the trajectories themselves."""
    found = torch.cat([path.replay(scorer).losses(loss, reduction) for path in paths])
    return found.detach().mean().item()


def averages(problem, points):
    """The average loss at many points, each score by its features."""
    total = torch.zeros(len(points), dtype=points.dtype)
    problem.set(torch.zeros_like(points[0]))
    for path in problem.paths:
        for found in hindsight_problem._beams_of(problem, path):
            features = torch.zeros(found.costs.numel(), points.shape[1], dtype=points.dtype)
            features[found.entries, found.places] = found.slopes
            scores = (points @ features.T).view(-1, found.costs.shape[1])
            fields = [found.costs, found.width, found.mask]
            many = [torch.cat([field] * len(points)) for field in fields]
            total += problem.loss(scores, *many).view(len(points), -1) @ found.share
    return total


def subgradient_run(average, size, radius, steps=80):
    """The least average loss on a long walk of projected subgradient descent."""
    theta, best = torch.zeros(size, dtype=torch.float64), float("inf")
    for t in range(1, steps):
        value, slope = average(theta)
        best = min(best, value)
        theta = theta - 0.7 * radius / t**0.5 * slope / slope.norm().clamp(min=1e-12)
        project([theta], radius)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVEX)
def test_the_minimum_of_a_convex_loss_is_found_and_proven(name):
    loss, scorer, radius = LOSSES[name], scorer_of(), 0.4
    paths = collect(loss, scorer)
    told = []
    found = best_in_hindsight(
        paths, scorer, loss, radius=radius, on_step=lambda *news: told.append(news)
    )
    assert found.certified
    assert 0 <= found.gap <= 1e-3 * max(1.0, found.value)
    assert told[-1] == pytest.approx((found.evaluations, found.value, found.lower))
    assert found.weights["theta"].norm() <= radius + 1e-9

    problem = Problem(paths, scorer_of(), loss, "sum")
    walked = subgradient_run(hindsight_problem.linearized(problem), 12, radius)
    assert found.lower <= walked
    assert found.value <= walked + 1e-4 * max(1.0, walked)
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(1000, 12, generator=generator, dtype=torch.float64)
    points *= radius * torch.rand(1000, 1, generator=generator) / points.norm(dim=1, keepdim=True)
    assert averages(problem, points).min() >= found.lower

    scorer.load_state_dict(found.weights)
    assert average(paths, scorer, loss) == pytest.approx(found.value)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("accumulate", [True, False])
@pytest.mark.parametrize("name", ["upper_bound", "log_loss_neighbors"])
def test_one_linear_map_gives_the_losses_of_all_replays(name, accumulate, reduction):
    scorer = scorer_of(accumulate)
    problem = Problem(collect(name, scorer), scorer, LOSSES[name], reduction)
    generator = torch.Generator().manual_seed(0)
    mapped = hindsight_problem.linearized(problem)
    for _ in range(3):
        theta = torch.randn(12, generator=generator, dtype=torch.float64)
        value, slope = problem(theta)
        assert average(problem.paths, scorer, problem.loss, reduction) == pytest.approx(value)
        found = mapped(theta)
        assert found[0] == pytest.approx(value)
        torch.testing.assert_close(found[1], slope)


def test_what_is_told_after_few_steps_holds_too():
    scorer = scorer_of()
    paths = collect("upper_bound", scorer)
    best = best_in_hindsight(paths, scorer, "upper_bound", radius=1.5)
    for steps in (1, 2, 3, 5):
        found = best_in_hindsight(paths, scorer, "upper_bound", radius=1.5, steps=steps)
        assert found.evaluations == steps
        assert found.lower <= best.value
        assert found.value >= best.lower
        scorer.load_state_dict(found.weights)
        assert average(paths, scorer, LOSSES["upper_bound"]) == pytest.approx(found.value)


def test_many_weights_are_certified_by_replays(monkeypatch):
    scorer = scorer_of()
    paths = collect("log_loss_neighbors", scorer)
    options = {"radius": 1.0, "tolerance": 1e-4}
    one = best_in_hindsight(paths, scorer, "log_loss_neighbors", **options)
    monkeypatch.setattr(hindsight_problem, "DERIVATIVES_AT_ONCE", 0)
    monkeypatch.setattr(bundle, "LARGEST", 6)
    two = best_in_hindsight(paths, scorer, "log_loss_neighbors", **options)
    assert two.certified
    assert two.lower <= one.value + 1e-9
    assert one.lower <= two.value + 1e-9
    assert two.value == pytest.approx(one.value, rel=2e-4)


@pytest.mark.parametrize("name", CONVEX)
@given(batch=beams(), other=st.randoms(use_true_random=False))
def test_gradients_of_convex_losses_are_subgradients_at_ties_too(name, batch, other):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    loss = LOSSES[name]
    here = loss(scores, costs, width, mask)
    slope = torch.autograd.grad(here.sum(), scores)[0].masked_fill(~mask, 0.0)
    step = [[other.choice((-1.0, -0.5, 0.0, 0.5, 1.0)) for _ in row] for row in scores.tolist()]
    step = torch.tensor(step, dtype=scores.dtype)
    there = loss(scores.detach() + step, costs, width, mask)
    assert bool((there >= here.detach() + (slope * step).sum(dim=-1) - 1e-9).all())


def test_the_zero_start_of_a_perceptron_is_its_minimum():
    scorer = scorer_of()
    found = best_in_hindsight(
        collect("perceptron_first", scorer), scorer_of(), "perceptron_first", radius=2.0
    )
    assert found.value == 0.0
    assert -1e-4 <= found.lower <= 0.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_scorer_keeps_its_weights(dtype):
    scorer = scorer_of(dtype=dtype)
    paths = collect("upper_bound", scorer)
    before = scorer.theta.detach().clone()
    for radius in (1.0, None):
        found = best_in_hindsight(paths, scorer, "upper_bound", radius=radius, steps=3)
        assert torch.equal(scorer.theta, before)
        assert found.weights["theta"].dtype == dtype


def test_a_network_is_estimated():
    gold = [[2, 3, 1], [2, 1, 3]]
    scorer = RecurrentScorer(2, 4)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.05)
    loss = LOSSES["log_loss_neighbors"]
    rounds = bl.learn(
        [gold] * 3, HammingTask(4), scorer, optimizer, loss=loss, width=2, trajectories=True
    )
    paths = [round.trajectory for round in rounds]
    found = best_in_hindsight(paths, scorer, loss, steps=8)
    assert not found.certified
    assert found.lower is None
    assert found.gap is None
    assert "estimated" in str(found)
    assert found.value < average(paths, scorer, loss)
    scorer.load_state_dict(found.weights)
    assert average(paths, scorer, loss) == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("log_loss_beam", {"radius": 1.0}),
        ("upper_bound", {}),
        ("upper_bound", {"radius": 1.0, "linear": False}),
    ],
)
def test_without_a_proof_there_is_no_lower_bound(loss, options):
    scorer = scorer_of()
    paths = collect(loss, scorer)
    found = best_in_hindsight(paths, scorer, loss, steps=2, **options)
    assert found.lower is None
    if "radius" in options:
        assert found.weights["theta"].norm() <= 1.0 + 1e-9


def test_a_width_that_depends_on_the_scores_proves_nothing():
    scorer = scorer_of()
    paths = collect("upper_bound", scorer, finish="first")
    assert not best_in_hindsight(paths, scorer, "upper_bound", radius=1.0, steps=1).certified


def tagged(normalize=None, linear=None):
    table = torch.nn.Parameter(torch.zeros(3, 5, 4, dtype=torch.float64))
    scorer = TableScorer(table, normalize=normalize)
    if linear is not None:
        scorer.linear = linear
    path = bl.beam_trajectory(HammingTask(4).space([[2, 3, 1], [1, 1, 3]]), scorer, width=2)
    return [path.detach()], scorer


def test_a_scorer_may_say_that_it_is_linear():
    options = {"loss": "upper_bound", "radius": 1.0, "steps": 2}
    for linear, certified in ((None, False), (False, False), (True, True)):
        paths, scorer = tagged(linear=linear)
        assert best_in_hindsight(paths, scorer, **options).certified is certified
    paths, scorer = tagged()
    assert best_in_hindsight(paths, scorer, linear=True, **options).certified
    paths, scorer = tagged(normalize="log_softmax", linear=True)
    assert not best_in_hindsight(paths, scorer, **options).certified
    with pytest.raises(ValueError, match="scores that are linear in the weights, got a nonlinear"):
        best_in_hindsight(paths, scorer, linear=True, **options)


def test_a_loss_that_is_not_convex_as_it_says_is_found_out():
    @surrogate(convex=True, bounds_cost=False, needs="costs")
    def hollow(scores, costs, width, mask=None):
        return -scores.square().sum(dim=-1)

    paths, scorer = tagged()
    torch.nn.init.constant_(scorer.table, 0.1)
    with pytest.raises(ValueError, match="needs a loss that is convex in the weights, got"):
        best_in_hindsight(paths, scorer, hollow, radius=6.0, linear=True)


def test_what_cannot_be_judged_in_hindsight_is_refused():
    scorer = scorer_of()
    with pytest.raises(ValueError, match="got 0 with 0 None; keep them with `learn"):
        best_in_hindsight([], scorer, "upper_bound")
    with pytest.raises(ValueError, match="got 1 with 1 None"):
        best_in_hindsight([None], scorer, "upper_bound")
    paths = collect("upper_bound", scorer)
    with pytest.raises(ValueError, match="Did you mean 'upper_bound'?"):
        best_in_hindsight(paths, scorer, "uper_bound")
    for name in ("radius", "tolerance", "steps"):
        with pytest.raises(ValueError, match=f"`{name}` must be a number above 0, got 0"):
            best_in_hindsight(paths, scorer, "upper_bound", **{name: 0})
    scorer.theta.requires_grad_(False)
    with pytest.raises(ValueError, match="`scorer` must have parameters that require a gradient"):
        best_in_hindsight(paths, scorer, "upper_bound")
