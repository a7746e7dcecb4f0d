"""The theorems hold for what the engine does: on populations that are integrated exactly.

Coverage here is that of 64 runs; `benchmarks/coverage.py` has 512.
"""

from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise, product

import pytest
import torch

import beamlearn as bl
from beamlearn.evaluation.evaluate import on_policy_losses
from beamlearn.learning.optimizers import ProjectedGradient
from beamlearn.strategies import Continue, Interpolate, Reset, Stop, cutoff, exponential
from beamlearn.theory.certificate import certify
from beamlearn.theory.hindsight import best_in_hindsight
from beamlearn.theory.regret import regret

small = import_module("small_population")
pytestmark = pytest.mark.usefixtures("module_without_shape_checks")  # or it takes minutes

ROUNDS, RUNS, UPPER = 64, 64, 8.0
STRATEGIES = {
    "continue": Continue(),
    "stop": Stop(),
    "reset": Reset(),
    "interpolate": Interpolate(exponential(0.5, 0.9)),
    "cutoff": Interpolate(cutoff(ROUNDS // 2)),
}
STATEMENTS = {
    "continue": "Theorem 3",
    "stop": "Theorem 4",
    "reset": "Theorem 4",
    "interpolate": "Equation 30",
    "cutoff": "Equation 31",
}
OFF_POLICY = ("stop", "reset", "cutoff")
"""What these collect is milder than what the learned policy meets."""
HARD, EASY = ("even", 1), ("skewed", 2)
DELTAS = (0.5, 0.1, 0.01)


@cache
def runs_of(strategy, population, width):
    return small.learn(
        STRATEGIES[strategy],
        rounds=ROUNDS,
        runs=RUNS,
        width=width,
        probabilities=small.POPULATIONS[population],
    )


def coverage(runs, delta, bound=lambda proof: proof.bound, upper=UPPER):
    """The share of runs whose bound holds for min(loss, upper)."""
    proofs = runs.certificates(upper, delta, clip=True)
    bounds = torch.tensor([bound(proof) for proof in proofs], dtype=torch.float64)
    return float((bounds >= runs.truth(upper)).double().mean())


@pytest.mark.slow
@pytest.mark.parametrize("case", [HARD, EASY])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bounds_hold_as_often_as_they_say(strategy, case):
    runs = runs_of(strategy, *case)
    assert runs.certificates(UPPER, 0.5, clip=True)[0].statement == STATEMENTS[strategy]
    for delta in DELTAS:
        assert coverage(runs, delta) >= 1 - delta
        assert coverage(runs, delta, upper=small.largest_loss(case[1])) >= 1 - delta


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("case", [HARD, EASY])
def test_no_loss_exceeds_its_bound(strategy, case):
    runs, upper = runs_of(strategy, *case), small.largest_loss(case[1])
    assert max(float(runs.losses.max()), float(runs.expected.max())) <= upper


@pytest.mark.slow
def test_theorem_3_needs_the_deviation():
    share = coverage(runs_of("continue", *HARD), 0.1, lambda proof: proof.empirical_loss)
    assert 0.2 < share < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OFF_POLICY)
def test_strategies_that_leave_the_policy_need_the_gap(strategy):
    runs = runs_of(strategy, *HARD)
    share = coverage(runs, 0.5, lambda proof: proof.empirical_loss + proof.deviation)
    assert share < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["stop", "reset"])
def test_theorem_4_as_its_text_has_it_does_not_hold(strategy):
    """Read as the frequency of at least one increase, alpha-hat is large where it must not be."""
    runs = runs_of(strategy, *HARD)
    assert coverage(replace(runs, on_policy=~runs.on_policy), 0.5) < 0.25


@pytest.mark.parametrize("strategy", ["continue", "stop", "reset"])
def test_a_run_in_a_batch_is_a_run_alone(strategy):
    runs = small.learn(STRATEGIES[strategy], rounds=12, runs=4, width=2, seed=1)
    scorer = small.Policies(1)
    rounds = bl.learn(
        [small.space_of([(0, number)]) for number in runs.sentences[:, 3].tolist()],
        small.Tagging(),
        scorer,
        ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS),
        loss=small.LOSS,
        strategy=STRATEGIES[strategy],
        width=2,
    )
    for t in range(12):
        assert torch.equal(scorer.theta[0], runs.iterates[t, 3])
        round = next(rounds)
        assert round.losses.tolist() == [float(runs.losses[t, 3])]
        assert round.on_policy.tolist() == [bool(runs.on_policy[t, 3])]


@pytest.mark.parametrize("width", [1, 2])
def test_expected_losses_are_those_of_a_graph_with_features(width, generator):
    theta = torch.randn(small.Policies(2).theta.shape, generator=generator, dtype=torch.float64)
    (found,) = small.expected_losses([theta], width)
    task = bl.GraphTask(graph)
    for own, losses in zip(theta, found, strict=True):
        scorer = bl.LinearScorer(features, names=NAMES, dtype=torch.float64)
        scorer.load_state_dict({"theta": own.flatten()})
        expected = on_policy_losses([range(len(small.SENTENCES))], task, scorer, small.LOSS, width)
        torch.testing.assert_close(losses, expected)


NAMES = [context + tag for context, tag in product(small.WORDS + small.TAGS + "^", small.TAGS)]


def graph(number):
    """A sentence as a graph; a node is the number of the sentence, the place and the tag."""
    words, right = small.SENTENCES[number]

    def neighbors(node):
        return [(number, node[1] + 1, tag) for tag in small.TAGS] if node[1] < len(words) else []

    def step_cost(_, node):
        return float(right[node[1] - 1] != node[2])

    return bl.GraphSpace((number, 0, "^"), neighbors, step_cost=step_cost)


def features(path):
    found = dict.fromkeys(NAMES, 0.0)
    words, _ = small.SENTENCES[path[0][0]]
    for (_, place, last), (_, _, tag) in pairwise(path):
        found[words[place] + tag] += 1.0
        found[last + tag] += 1.0
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("width", [1, 2])
def test_transition_costs_add_up(strategy, width):
    """Eq. (3), with transition costs from the neighbors of each beam."""
    scorer = small.Policies(1)
    rounds = bl.learn(
        [small.everything(1)] * 12,
        small.Tagging(),
        scorer,
        ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS),
        loss=small.LOSS,
        strategy=STRATEGIES[strategy],
        width=width,
        generator=torch.Generator().manual_seed(3),
        trajectories=True,
    )
    for round in rounds:
        path = round.trajectory
        total = path.oracle.initial()
        for transition in path.transitions:
            neighbors, kept = transition.neighbors, transition.step.kept
            reached = transition.costs.masked_fill(~kept, torch.inf).amin(dim=-1)
            least = neighbors.fill(neighbors.unmasked_costs, torch.inf).amin(dim=-1)
            total = total.index_add(0, transition.step.examples, reached - least)
        assert torch.equal(total, round.costs)
        for (words, right), beams, cost in zip(
            small.SENTENCES, path.beams, round.costs.tolist(), strict=True
        ):
            output = [small.TAGS[tag] for tag in beams[-1][0]]
            if len(output) == len(words):
                assert sum(a != b for a, b in zip(output, right, strict=True)) == cost
            else:
                assert strategy == "stop"


@pytest.mark.slow
@pytest.mark.parametrize("case", [HARD, EASY])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_theorem_2(strategy, case):
    """For every iterate of every run, the expected cost is at most the optimum and the loss."""
    assert small.LOSS.bounds_cost
    runs, (_, width) = runs_of(strategy, *case), case
    scorer, everything = small.Policies(RUNS), small.everything(RUNS)
    optimum = everything.oracle().initial().double().view(RUNS, -1) @ runs.probabilities
    assert (optimum > 0).all()
    for theta, expected in zip(runs.iterates[::8], runs.expected[::8], strict=True):
        scorer.load_state_dict({"theta": theta})
        costs = bl.evaluate([everything], small.Tagging(), scorer, width).costs.double()
        bound = optimum + expected @ runs.probabilities
        assert (costs.view(RUNS, -1) @ runs.probabilities <= bound + 1e-9).all()


@pytest.mark.slow
def test_theorem_1():
    """With explicit expectations the mean loss is exact, and it is the best one's but for a regret.

    The distribution is the whole batch, in which some sentences come several times.
    """
    numbers = [*range(8), 0, 0, 0, 0, 0, 5, 5, 5]
    scorer, iterates = small.Policies(1), []

    def batches():
        for _ in range(32):
            iterates.append(scorer.theta.detach().clone())
            yield small.space_of((0, number) for number in numbers)

    optimizer = ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS)
    rounds = list(bl.learn(batches(), small.Tagging(), scorer, optimizer, loss=small.LOSS, width=1))
    losses = [float(round.losses.mean()) for round in rounds]
    expected = small.expected_losses(iterates, width=1)[:, 0, numbers].mean(dim=-1)
    steepest = max(round.gradient_norm for round in rounds)
    found = []
    for m in (8, 32):
        proof = certify(losses[:m], upper=small.largest_loss(1), explicit=True)
        assert proof.bound == pytest.approx(float(expected[:m].mean()))
        own = small.Policies(m)
        own.load_state_dict({"theta": torch.cat(iterates[:m])})
        with torch.no_grad():
            space = small.space_of((run, number) for run in range(m) for number in numbers)
            path = bl.beam_trajectory(space, own, width=1)
        best = best_in_hindsight(
            [path], small.Policies(1), small.LOSS, radius=small.RADIUS, tolerance=0.05
        )
        found.append(regret(proof.bound, best.value, best.lower))
        assert found[-1].gamma_upper <= ProjectedGradient.regret_bound(
            m, lr=small.LR, radius=small.RADIUS, gradient_bound=steepest
        )
    early, late = found
    assert late.gamma_upper < 0.75 * early.gamma_lower
