import by_the_book
import pytest
import torch
from generate import STRATEGIES, scorer_of, stacked, stacked_scorer, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from spaces import TableScorer, TaggingSpace

import beamlearn as bl
from beamlearn.learning import trajectory as transitions
from beamlearn.strategies import Interpolate, Reset

strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
widths = st.integers(1, 5)
finishes = st.sampled_from(["pad", "first"])


def all_losses(trajectory):
    return {name: trajectory.losses(loss).tolist() for name, loss in bl.losses.LOSSES.items()}


def check(tree, trajectory, losses, book, example=0, node=lambda path: path[-1]):
    """Does a trajectory agree with the book in everything it says?"""
    beams, increased, visited, on_policy = book
    found = trajectory.beams[example]
    assert [[node(path) for path in beam] for beam in found] == beams
    assert trajectory.costs[example] == [[tree.cstar(v) for v in beam] for beam in beams]
    assert trajectory.increased[example] == increased
    assert trajectory.increases[example] == sum(increased)
    assert bool(trajectory.on_policy[example]) == on_policy
    assert trajectory.final_costs[example] == min(tree.cstar(v) for v in beams[-1])
    for name, loss in by_the_book.LOSSES.items():
        expected = by_the_book.losses_along(loss, tree.score, tree.cstar, visited)
        assert losses[name][example] == pytest.approx(expected, abs=1e-9)


@strategies
@given(tree=trees(root_terminal=False), k=widths, finish=finishes)
def test_trajectory_is_algorithm_2(strategy, tree, k, finish):
    book = by_the_book.beam_trajectory(
        tree.neighbors, tree.score, tree.cstar, (), k, strategy, finish
    )
    trajectory = bl.beam_trajectory(
        tree.space(), scorer_of(tree), width=k, strategy=STRATEGIES[strategy], finish=finish
    )
    check(tree, trajectory, all_losses(trajectory), book)


@strategies
@settings(max_examples=20)
@given(tree=trees(root_terminal=False), k=widths, finish=finishes, last=st.integers(1, 4))
def test_the_last_beam_may_be_a_list(strategy, tree, k, finish, last):
    book = by_the_book.beam_trajectory(
        tree.neighbors, tree.score, tree.cstar, (), k, strategy, finish, last=last
    )
    trajectory = bl.beam_trajectory(
        tree.space(),
        scorer_of(tree),
        width=k,
        strategy=STRATEGIES[strategy],
        finish=finish,
        final_width=last,
    )
    check(tree, trajectory, all_losses(trajectory), book)
    rises = zip(trajectory.costs[0], trajectory.costs[0][1:], strict=False)
    total = sum(min(after) - min(before) for before, after in rises)
    assert trajectory.final_costs[0] - tree.cstar(()) == pytest.approx(total)  # Eq. (3)


def test_a_list_has_at_least_one_output():
    tree = bl.GraphSpace("", lambda v: [v + "a"] if len(v) < 2 else [], cost=lambda _: 0.0)
    with pytest.raises(ValueError, match="`final_width` must be at least 1, got 0; use 1 for one"):
        bl.beam_trajectory(tree, bl.FunctionScorer(len), final_width=0)


@strategies
@settings(max_examples=15)
@given(forest=st.lists(trees(), min_size=2, max_size=4), k=widths, finish=finishes)
def test_batch_law(strategy, forest, k, finish):
    trajectory = bl.beam_trajectory(
        stacked(forest),
        stacked_scorer(forest),
        width=k,
        strategy=STRATEGIES[strategy],
        finish=finish,
    )
    losses = all_losses(trajectory)
    for number, tree in enumerate(forest):
        book = by_the_book.beam_trajectory(
            tree.neighbors, tree.score, tree.cstar, (), k, strategy, finish
        )
        check(tree, trajectory, losses, book, number, node=lambda path: path[-1][1])


@given(tree=trees(root_terminal=False), k=widths, beta=st.floats(0, 1), seed=st.integers(0, 99))
def test_interpolation_tosses_a_coin_per_step(tree, k, beta, seed):
    generator = torch.Generator().manual_seed(seed)
    coins = [torch.rand(1, generator=generator).item() < beta for _ in range(20)]
    book = by_the_book.beam_trajectory(
        tree.neighbors, tree.score, tree.cstar, (), k, "interpolate", coins=coins
    )
    trajectory = bl.beam_trajectory(
        tree.space(),
        scorer_of(tree),
        width=k,
        strategy=Interpolate(beta),
        generator=torch.Generator().manual_seed(seed),
    )
    check(tree, trajectory, all_losses(trajectory), book)


@pytest.mark.parametrize("entries", [1, 30, 1 << 21])
def test_losses_are_the_same_in_portions_of_any_size(entries, monkeypatch, generator):
    """And in any batch, to the last bit."""
    table = torch.randn(6, 5, 4, generator=generator)
    gold = [[0, 1, 2, 3, 0, 1], [2], [3, 3, 1]]

    def losses(*examples):
        path = bl.beam_trajectory(TaggingSpace(list(examples), 4), TableScorer(table), width=3)
        return path.losses(bl.losses.softmax_margin_beam)

    alone = torch.cat([losses(tags) for tags in gold])
    monkeypatch.setattr(transitions, "ENTRIES_AT_ONCE", entries)
    assert torch.equal(losses(*gold), alone)


@given(tree=trees(root_terminal=False), k=widths)
def test_mean_over_steps(tree, k):
    trajectory = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k)
    total = trajectory.losses(bl.losses.log_loss_neighbors)
    mean = trajectory.losses(bl.losses.log_loss_neighbors, reduction="mean")
    assert (mean * len(trajectory.increased[0])).item() == pytest.approx(total.item())


@given(trees(root_terminal=False), widths, finishes)
def test_replay_scores_the_same_beams_again(tree, k, finish):
    space = tree.space()
    trajectory = bl.beam_trajectory(space, scorer_of(tree), width=k, finish=finish)
    same = trajectory.replay(scorer_of(tree))
    assert same.beams == trajectory.beams
    for name, loss in bl.losses.LOSSES.items():
        assert torch.equal(same.losses(loss), trajectory.losses(loss)), name
    doubled = trajectory.replay(bl.FunctionScorer(lambda path: 2 * tree.scores[path[-1]]))
    assert doubled.beams == trajectory.beams
    for before, after in zip(trajectory.transitions, doubled.transitions, strict=True):
        assert torch.equal(after.neighbors.scores, 2 * before.neighbors.scores)


def test_replay_judges_the_new_scorer():
    space = bl.GraphSpace(0, lambda n: [1, 2, 3] if n == 0 else [], cost=lambda path: path[-1])
    right, wrong = (bl.FunctionScorer(lambda path, sign=sign: sign * path[-1]) for sign in (-1, 1))
    path = bl.beam_trajectory(space, right, width=1)
    assert path.increased == [[False]]
    again = path.replay(wrong)
    assert again.beams == path.beams
    assert again.increased == [[True]]
    assert again.losses(bl.losses.perceptron_first).item() == 2


def test_gradient_reaches_the_parameters_and_detach_cuts_it():
    space = bl.GraphSpace(
        "", lambda w: [w + "a", w + "b"] if len(w) < 2 else [], cost=lambda p: p[-1].count("a")
    )
    scorer = bl.LinearScorer(lambda path: {path[-1][-1]: 1.0}, names=["a", "b"])
    trajectory = bl.beam_trajectory(space, scorer, width=1)
    (gradient,) = torch.autograd.grad(
        trajectory.losses(bl.losses.log_loss_neighbors).sum(), scorer.theta
    )
    assert gradient.tolist() == [1.0, -1.0]
    assert not trajectory.detach().losses(bl.losses.log_loss_neighbors).requires_grad


@strategies
@pytest.mark.parametrize("name", bl.losses.LOSSES)
@pytest.mark.usefixtures("no_shape_checks")  # for their time
def test_gradient_along_a_trajectory_is_its_slope(strategy, name, generator):
    """Through accumulated and normalized scores, in rows that end at different steps."""
    space = TaggingSpace([[0, 2], [1]], 3)
    table = torch.randn(2, 4, 3, generator=generator, dtype=torch.float64) / 3

    def total(table):
        scorer = TableScorer(table, accumulate=True, normalize="log_softmax")
        path = bl.beam_trajectory(space, scorer, width=2, strategy=STRATEGIES[strategy])
        return path.losses(bl.losses.LOSSES[name]).sum()

    assert torch.autograd.gradcheck(total, table.requires_grad_(), fast_mode=True)


def test_strategies_by_name():
    space = bl.GraphSpace(0, lambda n: [1, 2] if n == 0 else [], cost=lambda path: path[-1])
    scorer = bl.FunctionScorer(lambda path: path[-1])
    assert bl.beam_trajectory(space, scorer, strategy="oracle").final_costs.item() == 1
    assert bl.beam_trajectory(space, scorer, strategy="continue").final_costs.item() == 2
    with pytest.raises(ValueError, match=r"needs a probability.*pass `Interpolate\(beta\)`"):
        bl.beam_trajectory(space, scorer, strategy="interpolate")


class CheapestOnly(bl.Oracle):
    """Knows the reference "bb" but not what anything else costs."""

    full = False

    def initial(self):
        return torch.zeros(1)

    def start(self):
        return None

    def costs(self, memory, nodes):
        return torch.tensor([1.0, 0.0]).expand(*nodes.shape, 2)

    def advance(self, memory, nodes, move):
        return None


def test_an_oracle_that_only_knows_the_cheapest_neighbor():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 2 else [])
    scorer = bl.FunctionScorer(lambda path: -path[-1].count("b"))
    trajectory = bl.beam_trajectory(space, scorer, width=1, strategy=Reset(), oracle=CheapestOnly())
    assert trajectory.beams[0][-1] == [("", "b", "bb")]
    assert trajectory.losses(bl.losses.perceptron_first).item() == 2
    with pytest.raises(ValueError, match="'upper_bound' needs the cost of every neighbor"):
        trajectory.losses(bl.losses.upper_bound)
