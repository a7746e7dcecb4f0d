"""Roll-outs against the book, against exact costs, and with what users get wrong."""

import math

import by_the_book
import pytest
import torch
from generate import STRATEGIES, scorer_of, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import TableScorer, TaggingSpace

import beamlearn as bl

widths = st.integers(1, 4)
strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=str)


def costs_at(path, example=0):
    """The costs of the neighbors at each beam of an example, as far as they are known."""
    found = []
    for here in path.transitions:
        for row in (here.step.examples == example).nonzero()[:, 0].tolist():
            known = here.neighbors.known
            there = here.neighbors.mask if known is None else known
            found.append(here.neighbors.unmasked_costs[row][there[row]].tolist())
    return found


@strategies
@settings(max_examples=25)
@given(tree=trees(root_terminal=False), k=widths)
def test_roll_outs_by_an_optimal_reference_are_exact(strategy, tree, k):
    choices = {"width": k, "strategy": STRATEGIES[strategy]}
    exact = bl.beam_trajectory(tree.space(), scorer_of(tree), **choices)
    rolled = bl.beam_trajectory(
        tree.space(), scorer_of(tree), oracle=bl.RolloutOracle(out="reference"), **choices
    )
    assert costs_at(rolled) == [pytest.approx(row) for row in costs_at(exact)]
    assert rolled.beams == exact.beams
    assert rolled.oracle.initial().tolist() == pytest.approx(exact.oracle.initial().tolist())
    for loss in bl.losses.LOSSES.values():
        assert rolled.losses(loss).tolist() == pytest.approx(exact.losses(loss).tolist())


@given(tree=trees(root_terminal=False), k=widths)
def test_roll_outs_by_the_learned_policy_are_the_book_s(tree, k):
    oracle = bl.RolloutOracle(lambda _, path: tree.cstar(path[-1]))
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), k, oracle=oracle)

    def cost(node):
        return tree.cstar(by_the_book.roll_out(tree.neighbors, tree.score, node))

    for step, costs in enumerate(costs_at(path)):
        beam = [nodes[-1] for nodes in path.beams[0][step]]
        a = by_the_book.neighbors_of_beam(tree.neighbors, beam)
        assert sorted(costs) == pytest.approx(sorted(map(cost, a)))


@pytest.mark.parametrize(
    "cell", [name for name, row in bl.ALGORITHMS.items() if row.out is not None]
)
@settings(max_examples=25)
@given(tree=trees(root_terminal=False), seed=st.integers(0, 99), taste=st.integers(2, 5))
def test_cells_of_learning_to_search_are_the_book_s(cell, tree, seed, taste):
    row = bl.ALGORITHMS[cell]

    def opinion(node):  # of a reference that is wrong most of the time
        return (sum(node) * 7 + len(node)) % taste

    oracle = bl.RolloutOracle(
        lambda _, path: tree.costs[path[-1]],
        out=row.out,
        reference=lambda space: Opinion(space, opinion),
    )
    path = bl.beam_trajectory(
        tree.space(),
        scorer_of(tree),
        row.width,
        strategy=row.strategy,
        oracle=oracle,
        generator=torch.Generator().manual_seed(seed),
    )
    draws = torch.Generator().manual_seed(seed)
    mixed = isinstance(row.out, float)
    if mixed:
        torch.rand(1, 1, generator=draws)  # for the roll-out from the initial node

    def coin(p):
        return p == 1 or (p > 0 and torch.rand(1, generator=draws).item() < p)

    strategies = {"Oracle": 1, "Interpolate": 0.5, "Continue": 0}
    visited, costs = by_the_book.learn_to_search(
        tree.neighbors,
        tree.score,
        tree.costs.__getitem__,
        opinion,
        (),
        strategies[type(row.strategy).__name__],
        {"reference": 1, "learned": 0}.get(row.out, row.out),
        coin,
    )
    beams = [beam[0][-1] for beam in path.beams[0]]
    assert beams == [*visited, *visited[-1:] * (len(beams) - len(visited))]  # it may stay there
    assert costs_at(path)[: len(costs)] == [pytest.approx(row) for row in costs]


class Opinion(bl.Oracle):
    """A reference that goes where a function of nodes is least."""

    def __init__(self, space, opinion):
        self.space, self.opinion = space, opinion

    def initial(self):
        return torch.zeros(len(self.space))

    def start(self):
        return None

    def costs(self, memory, nodes):
        children = self.space.children(nodes)
        said = [
            0.0 if n < 0 else float(self.opinion(self.space.output_of(n)[-1]))
            for n in children.flatten().tolist()
        ]
        return torch.tensor(said).view(children.shape)

    def advance(self, memory, nodes, move):
        return None


def test_the_strategy_oracle_follows_the_reference_and_not_the_best_roll_out():
    (_, scorer), space = tagging(), TaggingSpace([[0, 1, 2]], tags=3)
    wrong = TaggingSpace([[1, 1, 1]], tags=3)
    for out in ("learned", 0.5, "reference"):
        oracle = bl.RolloutOracle(
            lambda _, output: float(sum(a != b for a, b in zip(output, (0, 1, 2), strict=True))),
            out=out,
            reference=lambda _: wrong.oracle(),
        )
        path = bl.beam_trajectory(space, scorer, 1, strategy="oracle", oracle=oracle)
        assert [list(beam[0]) for beam in path.beams[0]] == [[], [1], [1, 1], [1, 1, 1]]
        assert path.final_costs.item() == 2  # of the metric, not what the reference thinks


@settings(max_examples=25)
@given(forest=st.lists(trees(), min_size=1, max_size=4), k=widths, more=st.integers(0, 3))
def test_batch_law(forest, k, more):
    oracle = bl.RolloutOracle(lambda _, path: len(path) + 0.1, per_beam=k + more)
    together = bl.beam_trajectory(stacked(forest), stacked_scorer(forest), k, oracle=oracle)
    for number, tree in enumerate(forest):
        alone = bl.beam_trajectory(tree.space(), scorer_of(tree), k, oracle=oracle)
        assert costs_at(together, number) == costs_at(alone)
        assert together.final_costs[number] == alone.final_costs[0]


def tagging(rows=((0, 1, 2), (2,), (1, 1)), seed=0):
    space = TaggingSpace([list(row) for row in rows], tags=3)
    scores = torch.randn(len(rows), 3, 3, generator=torch.Generator().manual_seed(seed))
    return space, TableScorer(scores)


def test_only_the_best_scored_neighbors_and_the_reference_s_are_rolled_out():
    space, scorer = tagging()
    asked = []

    def cost(example, output):
        asked.append((example, tuple(output)))
        return sum(a != b for a, b in zip(output, space.gold[example], strict=True))

    oracle = bl.RolloutOracle(cost, per_beam=1, reference=lambda space: space.oracle())
    path = bl.beam_trajectory(space, scorer, 1, oracle=oracle)
    known = [row.sum(dim=-1).tolist() for row in (t.neighbors.known for t in path.transitions)]
    assert all(1 <= count <= 2 for counts in known for count in counts)
    assert asked
    first = path.transitions[0].neighbors
    for row in range(3):
        dearest = first.unmasked_costs[row][first.known[row]].max()
        assert (first.unmasked_costs[row][~first.known[row]] > dearest).all()


def test_losses_that_need_all_costs_see_the_known_ones_alone():
    space, scorer = tagging()
    path = bl.beam_trajectory(
        space, scorer, 1, oracle=bl.RolloutOracle(out="reference", per_beam=1)
    )
    here = path.transitions[0].neighbors
    seen = bl.losses.weighted_pairs_all(
        here.unscaled_scores, here.unmasked_costs, 1, here.mask & here.known
    )
    found = path.transitions[:1]
    alone = bl.Trajectory(space, path.oracle, 1, path.finish, found)
    assert alone.losses(bl.losses.weighted_pairs_all).tolist() == pytest.approx(seen.tolist())
    best = bl.losses.log_loss_neighbors(here.unscaled_scores, here.unmasked_costs, 1, here.mask)
    assert alone.losses(bl.losses.log_loss_neighbors).tolist() == pytest.approx(best.tolist())


def test_a_mixture_of_roll_outs_is_drawn_from_the_generator():
    space, scorer = tagging(rows=[(0, 1, 2)] * 200)

    def costs(out, seed=1):
        generator = torch.Generator().manual_seed(seed)
        path = bl.beam_trajectory(
            space, scorer, 1, oracle=bl.RolloutOracle(out=out), generator=generator
        )
        return path.transitions[0].neighbors.costs

    learned, reference = costs("learned"), costs("reference")
    half = costs(0.5)
    assert ((half == learned) | (half == reference)).all()
    differ = learned != reference
    share = float((half == reference)[differ].double().mean())
    assert share == pytest.approx(0.5, abs=0.1)
    assert torch.equal(half, costs(0.5))
    assert not torch.equal(half, costs(0.5, seed=2))


def test_sampled_roll_outs_follow_the_probabilities_of_the_model():
    space = TaggingSpace([[0, 0]] * 4000, tags=2)
    scorer = TableScorer(torch.tensor([[[0.0, 1.0]] * 2]).expand(4000, -1, -1))
    oracle = bl.RolloutOracle(lambda _, output: output[1], sampled=True)
    generator = torch.Generator().manual_seed(0)
    path = bl.beam_trajectory(space, scorer, 1, oracle=oracle, generator=generator)
    share = float(path.transitions[0].neighbors.costs.mean())
    assert share == pytest.approx(math.e / (1 + math.e), abs=0.02)


def test_learning_by_a_metric_that_only_knows_outputs():
    def digits(goal):
        more = lambda word: [word + d for d in "01"] if len(word) < 3 else []  # noqa: E731
        return bl.GraphSpace("", more, cost=lambda path: float(path[-1] != goal))

    scorer = bl.LinearScorer(lambda path: {path[-1]: 1.0}, size=64)
    optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    metric = bl.RolloutOracle(
        lambda start, path: sum(a != b for a, b in zip(path[-1], "101", strict=True))
    )
    task = bl.GraphTask(digits)
    rounds = bl.learn(
        [["101"]] * 8, task, scorer, optimizer, loss="upper_bound", width=2, oracle=metric
    )
    assert [float(round.costs) for round in rounds][-1] == 0.0
    optimizer = torch.optim.SGD(scorer.parameters(), lr=1.0)
    joint = bl.JOINT.choices | {"width": 2, "oracle": metric}
    (round,) = bl.learn([["101"]], task, scorer, optimizer, **joint)
    assert round.likelihoods is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": "both"}, "`out` must be learned, reference or a probability .* got 'both'"),
        ({"out": 1.5}, "`out` must be learned, reference or a probability .* got 1.5"),
        ({"per_beam": 0}, "`per_beam` must be at least 1, got 0"),
    ],
)
def test_what_is_no_roll_out_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bl.RolloutOracle(**options)


def test_a_beam_whose_cost_would_not_be_known_is_refused():
    space, scorer = tagging()
    with pytest.raises(ValueError, match="at least the width of the beam, 4, .* got 2"):
        bl.beam_trajectory(space, scorer, 4, oracle=bl.RolloutOracle(per_beam=2))


def test_it_needs_a_trajectory():
    space, _ = tagging()
    with pytest.raises(ValueError, match="needs a scorer to roll out with"):
        bl.check_oracle(space, bl.RolloutOracle())


def fails(example, output):
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("cost", "options", "message"),
    [
        (fails, {}, r"`cost` failed \(KeyError: .*\) for example . of the batch and the output \["),
        (lambda *_: math.nan, {}, "finite number, got nan for example . of the batch"),
        (lambda *_: [math.inf] * 9, {"batched": True}, "got 9|finite number, got inf"),
        (lambda *_: [0.0], {"batched": True}, "a number for each of . outputs, got 1"),
        (fails, {"batched": True}, r"`cost` failed .* the first of which is \["),
    ],
)
def test_a_metric_that_fails_is_named_with_its_example(cost, options, message):
    space, scorer = tagging()
    with pytest.raises(ValueError, match=message):
        bl.beam_trajectory(space, scorer, 1, oracle=bl.RolloutOracle(cost, **options))


def test_batched_metrics_are_asked_once_for_all_outputs_that_end_together():
    space, scorer = tagging(rows=[(0, 1)] * 3)
    calls = []

    def cost(inputs, outputs):
        calls.append(len(outputs))
        return [float(sum(output)) for output in outputs]

    batched = bl.beam_trajectory(space, scorer, 2, oracle=bl.RolloutOracle(cost, batched=True))
    single = bl.beam_trajectory(
        space, scorer, 2, oracle=bl.RolloutOracle(lambda _, output: sum(output))
    )
    assert costs_at(batched) == costs_at(single)
    assert 1 <= len(calls) <= 3  # from the initial node, and from two beams


def test_evaluation_asks_the_metric_for_the_outputs_alone():
    space, scorer = tagging()
    asked = []

    class Task:
        def space(self, batch):
            space.oracle = lambda: bl.RolloutOracle(
                lambda example, output: asked.append(output) or float(len(output)),
                reference=lambda space: TaggingSpace.oracle(space),
            )
            return space

    found = bl.evaluate([None], Task(), scorer, 2)
    assert found.costs.tolist() == [3.0, 1.0, 2.0]
    assert found.regrets.tolist() == [0.0, 0.0, 0.0]
    assert len(asked) == 6
