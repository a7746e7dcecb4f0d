"""The theorems hold for what the engine does: on populations that are integrated exactly.

Coverage here is that of 64 runs; `benchmarks/coverage.py` has 512.
"""

import sys
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest
import torch

import beamlearn as bl
from beamlearn.hindsight import best_in_hindsight
from beamlearn.online import ProjectedGradient
from beamlearn.regret import certify, regret
from beamlearn.strategies import Continue, Interpolate, Reset, Stop, cutoff, exponential

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
small = import_module("small_population")

ROUNDS, RUNS, UPPER = 64, 64, 8.0
STRATEGIES = {
    "continue": Continue(),
    "stop": Stop(),
    "reset": Reset(),
    "interpolate": Interpolate(exponential(0.5, 0.9)),
    "cutoff": Interpolate(cutoff(16)),
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
    bounds = torch.tensor([bound(proof) for proof in proofs])
    return float((bounds >= runs.truth(upper)).double().mean())


@pytest.mark.parametrize("case", [HARD, EASY])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bounds_hold_as_often_as_they_say(strategy, case):
    runs = runs_of(strategy, *case)
    assert runs.certificates(UPPER, 0.5, clip=True)[0].statement == STATEMENTS[strategy]
    for delta in DELTAS:
        assert coverage(runs, delta) >= 1 - delta
        assert coverage(runs, delta, upper=small.largest_loss(case[1])) >= 1 - delta


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("case", [HARD, EASY])
def test_no_loss_exceeds_its_bound(strategy, case):
    runs, upper = runs_of(strategy, *case), small.largest_loss(case[1])
    assert max(float(runs.losses.max()), float(runs.expected.max())) <= upper
    proofs = runs.certificates(upper, 0.1)
    bounds = torch.tensor([proof.bound for proof in proofs])
    assert (bounds >= runs.truth()).all()


def test_theorem_3_needs_the_deviation():
    share = coverage(runs_of("continue", *HARD), 0.1, lambda proof: proof.empirical_loss)
    assert 0.2 < share < 0.8


@pytest.mark.parametrize("strategy", OFF_POLICY)
def test_strategies_that_leave_the_policy_need_the_gap(strategy):
    runs = runs_of(strategy, *HARD)
    share = coverage(runs, 0.5, lambda proof: proof.empirical_loss + proof.deviation)
    assert share < 0.5


@pytest.mark.parametrize("strategy", ["stop", "reset"])
def test_theorem_4_as_its_text_has_it_does_not_hold(strategy):
    """Read as the frequency of at least one increase, alpha-hat is large where it must not be."""
    runs = runs_of(strategy, *HARD)
    assert coverage(replace(runs, on_policy=~runs.on_policy), 0.5) < 0.05


@pytest.mark.parametrize("strategy", ["continue", "stop", "reset"])
@pytest.mark.parametrize("width", [1, 2])
def test_a_run_in_a_batch_is_a_run_alone(strategy, width):
    """The same with a graph, a LinearScorer and one example at a time."""
    runs = small.learn(STRATEGIES[strategy], rounds=20, runs=4, width=width, seed=1)
    for run in range(4):
        scorer = bl.LinearScorer(features, names=NAMES, dtype=torch.float64)
        optimizer = ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS)
        batches = [[NUMBERS[number]] for number in runs.sentences[:, run].tolist()]
        options = {"loss": small.LOSS, "strategy": STRATEGIES[strategy], "width": width}
        rounds = bl.learn(batches, bl.GraphTask(graph), scorer, optimizer, **options)
        for t, round in enumerate(rounds):
            torch.testing.assert_close(round.losses[0], runs.losses[t, run])
            assert round.on_policy[0] == runs.on_policy[t, run]
            if t + 1 < len(runs.iterates):
                theta = runs.iterates[t + 1, run].flatten()
                torch.testing.assert_close(scorer.theta.detach(), theta)


NAMES = [context + tag for context, tag in product(small.WORDS + small.TAGS + "^", small.TAGS)]
NUMBERS = [[number] for number in range(len(small.SENTENCES))]


def graph(example):
    """A sentence as a graph; a node is the number of the sentence, the place and the tag."""
    (number,) = example
    words, right = small.SENTENCES[number]

    def neighbors(node):
        return [(number, node[1] + 1, tag) for tag in small.TAGS] if node[1] < len(words) else []

    def step_cost(_, node):
        return float(right[node[1] - 1] != node[2])

    return bl.GraphSpace((number, 0, "^"), neighbors, step_cost=step_cost)


def features(path):
    found = dict.fromkeys(NAMES, 0.0)
    words, _ = small.SENTENCES[path[0][0]]
    for (_, place, last), (_, _, tag) in zip(path, path[1:], strict=False):
        found[words[place] + tag] += 1.0
        found[last + tag] += 1.0
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("width", [1, 2])
def test_transition_costs_add_up(strategy, width):
    """Eq. (3), with transition costs from the neighbors of each beam."""
    scorer = small.Policies(1)
    draws = torch.Generator().manual_seed(3)
    rounds = bl.learn(
        [small.everything(1)] * 12,
        small.Tagging(),
        scorer,
        ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS),
        loss=small.LOSS,
        strategy=STRATEGIES[strategy],
        width=width,
        generator=draws,
        trajectories=True,
    )
    for round in rounds:
        path = round.trajectory
        total = path.oracle.initial()
        for transition in path.transitions:
            neighbors, kept = transition.neighbors, transition.step.kept
            reached = transition.costs.masked_fill(~kept, torch.inf).amin(dim=-1)
            least = neighbors.fill(neighbors.any_costs, torch.inf).amin(dim=-1)
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


@pytest.fixture(scope="module")
def explicit():
    """A run that sees the whole population in every round: its losses, iterates and gradients."""
    scorer, iterates = small.Policies(1), []

    def batches():
        for _ in range(ROUNDS):
            iterates.append(scorer.theta.detach().clone())
            yield small.everything(1)

    optimizer = ProjectedGradient(scorer.parameters(), small.LR, small.RADIUS)
    rounds = list(bl.learn(batches(), small.Tagging(), scorer, optimizer, loss=small.LOSS, width=1))
    losses = torch.stack([round.losses.mean() for round in rounds])
    return losses, torch.cat(iterates), max(round.gradient_norm for round in rounds)


def test_theorem_1(explicit):
    losses, iterates, steepest = explicit
    expected = small.expected_losses(iterates[:, None], width=1).mean(dim=(1, 2))
    found = []
    for m in (4, 16, 64):
        mean = certify(losses[:m], upper=small.largest_loss(1), explicit=True).bound
        assert mean == pytest.approx(float(expected[:m].mean()))
        scorer = small.Policies(m)
        scorer.load_state_dict({"theta": iterates[:m]})
        with torch.no_grad():
            path = bl.beam_trajectory(small.everything(m), scorer, width=1)
        best = best_in_hindsight([path], small.Policies(1), small.LOSS, radius=small.RADIUS)
        found.append(regret(mean, best.value, best.lower).gamma_upper)
        assert found[-1] <= ProjectedGradient.regret_bound(
            m, lr=small.LR, radius=small.RADIUS, gradient_bound=steepest
        )
    assert found[0] > 2 * found[1] > 4 * found[2] > 0
