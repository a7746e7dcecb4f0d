"""The script of the page computes what the library computes, on small trees of every kind."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from random import Random

import play_script
import pytest
import torch

import beamlearn as bl
from beamlearn.losses import LOSSES
from beamlearn.strategies import Interpolate, as_strategy

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")
STRATEGIES = ("oracle", "stop", "reset", "continue", "interpolate")
SCORINGS = {
    "absolute": (False, None),
    "sum": (True, None),
    "log-probabilities": (True, "log_softmax"),
}
ANSWER = """
({ root, losses, ...choices }) => {
  const nodes = grown(root, choices.scoring), path = trajectory(nodes[0], choices);
  const numbers = (list) => list.map((node) => node.number);
  return {
    cstar: nodes.map((node) => node.cstar),
    beams: path.beams.map(numbers),
    increased: path.transitions.map((one) => one.increased),
    neighbors: path.transitions.map((one) => numbers(one.a)),
    here: path.transitions.map((one) => losses.map((name) => lossAt(name, one))),
    along: losses.map((name) => lossAlong(name, path.transitions, nodes, choices.scoring)),
  };
}
"""


@dataclass(frozen=True)
class Case:
    """A tree as nested dictionaries, and how it is searched."""

    root: dict
    width: int
    strategy: str
    finish: str
    scoring: str
    coins: tuple[int, ...]
    seed: int

    @cached_property
    def places(self):
        """Every node as its path of places, parents first, as the script numbers them."""
        found = []

        def visit(node, path):
            found.append(path)
            for place, child in enumerate(node["children"]):
                visit(child, (*path, place))

        visit(self.root, ())
        return found

    @cached_property
    def number(self):
        return {path: number for number, path in enumerate(self.places)}

    def at(self, path):
        node = self.root
        for place in path:
            node = node["children"][place]
        return node

    def space(self):
        return bl.GraphSpace(
            (),
            lambda path: [(*path, place) for place in range(len(self.at(path)["children"]))],
            cost=lambda path: self.at(path[-1])["cost"],
        )

    def scorer(self):
        names = [*map(str, self.places)]
        scorer = bl.LinearScorer(
            lambda path: {str(path[-1]): 1.0}, names=names, dtype=torch.float64
        )
        with torch.no_grad():
            numbers = [float(self.at(path)["score"]) for path in self.places]
            scorer.theta[:] = torch.tensor(numbers, dtype=torch.float64)
        scorer.accumulate, scorer.normalize = SCORINGS[self.scoring]
        return scorer

    @cached_property
    def asked(self):
        """The case as the script gets it."""
        choices = ("root", "width", "strategy", "finish", "scoring", "coins")
        return {name: getattr(self, name) for name in choices} | {"losses": [*LOSSES]}


def cases(count):
    """Trees of at most 40 nodes, many with ties, early terminals, or fewer neighbors than slots."""
    random, found = Random(3), []
    while len(found) < count:
        depth, free = random.randint(1, 5), random.random() < 0.3
        early, spread = random.choice([0.0, 0.3]), random.randint(0, 6)
        scoring = random.choice([*SCORINGS])
        # Not on the edge of a hinge where numbers are rounded, which is anybody's guess.
        grid = 0.3 if scoring == "log-probabilities" else 0.25

        def node(level, depth=depth, free=free, early=early, spread=spread, grid=grid):
            inner = level == 0 or (level < depth and random.random() >= early)
            children = [node(level + 1) for _ in range(random.randint(1, 4) if inner else 0)]
            score = random.uniform(-3, 3) if free else random.randint(-spread, spread) * grid
            return {"score": score, "cost": random.randint(0, 3), "children": children, "name": ""}

        seed, root = len(found), node(0)
        generator = torch.Generator().manual_seed(seed)
        coins = tuple(int(torch.rand(1, generator=generator).item() < 0.5) for _ in range(8))
        case = Case(
            root,
            random.randint(1, 6),
            random.choice(STRATEGIES),
            random.choice(["pad", "first"]),
            scoring,
            coins,
            seed,
        )
        if len(case.places) <= 40:
            found.append(case)
    return found


@pytest.fixture(scope="module")
def asked():
    return cases(80)


@pytest.fixture(scope="module")
def answers(asked):
    """What the script says of all cases."""
    return play_script.answers(ANSWER, [case.asked for case in asked])


@pytest.fixture(scope="module")
def followed(asked):
    """Every case with its scorer and the trajectory that the library collects."""
    scorers = [case.scorer() for case in asked]
    return [(case, one, trajectory_of(case, one)) for case, one in zip(asked, scorers, strict=True)]


def trajectory_of(case, scorer):
    strategy = Interpolate(0.5) if case.strategy == "interpolate" else as_strategy(case.strategy)
    return bl.beam_trajectory(
        case.space(),
        scorer,
        case.width,
        strategy=strategy,
        finish=case.finish,
        generator=torch.Generator().manual_seed(case.seed),
    )


def test_the_cases_have_what_is_hard(asked, answers):
    """Every strategy, ties at the edge of the beam, n < k, early terminals and cost increases."""
    seen = Counter(case.strategy for case in asked)
    for case, answer in zip(asked, answers, strict=True):
        increased = any(answer["increased"])
        seen.update({f"{case.strategy} increased": increased})
        seen["narrow"] += any(len(a) < case.width for a in answer["neighbors"])
        leaves = {len(path) for path in case.places if not case.at(path)["children"]}
        seen["early"] += len(leaves) > 1
        scores = [case.at(path)["score"] for path in case.places]
        seen["ties"] += len(set(scores)) < len(scores)
    for name in (*STRATEGIES, *(f"{name} increased" for name in STRATEGIES)):
        assert seen[name] >= 4, name
    for name in ("narrow", "early", "ties"):
        assert seen[name] >= 10, name


def test_beams_and_costs_are_those_of_the_library(followed, answers):
    for (case, _, path), answer in zip(followed, answers, strict=True):
        beams = [[case.number[nodes[-1]] for nodes in beam] for beam in path.beams[0]]
        assert answer["beams"] == beams, case
        assert answer["increased"] == path.increased[0], case
        costs = [[answer["cstar"][number] for number in beam] for beam in beams]
        assert costs == path.costs[0], case


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_gradients_are_those_of_the_library(name, followed, answers):
    """At every beam in the scores of its neighbors, and along the trajectory in all numbers."""
    place = [*LOSSES].index(name)
    for (case, scorer, path), answer in zip(followed, answers, strict=True):
        check(answer["along"][place], path.losses(LOSSES[name]), scorer.theta, case)
        for transition, here in zip(path.transitions, answer["here"], strict=True):
            mask = transition.neighbors.mask[0]
            scores = transition.neighbors.scores[0][mask][None].detach().requires_grad_()
            costs = transition.neighbors.unmasked_costs[0][mask][None]
            check(here[place], LOSSES[name](scores, costs, transition.width), scores, case)


def check(found, value, numbers, case):
    (gradient,) = torch.autograd.grad(value.sum(), numbers, retain_graph=True)
    assert found["value"] == pytest.approx(value.item(), abs=1e-9), case
    assert found["gradient"] == pytest.approx(gradient.flatten().tolist(), abs=1e-9), case
