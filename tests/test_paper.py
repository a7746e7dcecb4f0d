"""One test per checkable claim of the paper, named by its number."""

from itertools import pairwise

import by_the_book
import pytest
import torch
from generate import beams, rows, scorer_of, tensors, trees
from hypothesis import given
from hypothesis import strategies as st
from spaces import HammingTask, TableScorer, TaggingSpace
from torch.nn import functional

import beamlearn as bl
from beamlearn import losses
from beamlearn.strategies import Continue, Interpolate, Oracle, Reset, Stop

widths = st.integers(1, 5)
strategies = pytest.mark.parametrize(
    "strategy",
    [Oracle(), Stop(), Reset(), Reset("oracle_beam"), Reset("keep"), Continue()],
    ids=str,
)
bounding = pytest.mark.parametrize("name", [n for n, f in losses.LOSSES.items() if f.bounds_cost])
convex = pytest.mark.parametrize("name", [n for n, f in losses.LOSSES.items() if f.convex])


@strategies
@given(tree=trees(root_terminal=False), k=widths)
def test_equation_3_costs_telescope(strategy, tree, k):
    """c*(b_h) = c*(b_1) + sum of the transition costs."""
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, strategy=strategy)
    beam_costs = [min(costs) for costs in path.costs[0]]
    steps = [after - before for before, after in pairwise(beam_costs)]
    assert all(step >= 0 for step in steps)
    assert path.final_costs[0] == beam_costs[0] + sum(steps)
    if not isinstance(strategy, Stop):
        assert path.final_costs[0] == tree.costs[path.beams[0][-1][0][-1]]


@bounding
@given(batch=beams())
def test_theorem_2_losses_bound_the_transition_cost(name, batch):
    """Appendix B for `upper_bound`, Appendix C for Eq. (9); decision 12 for the others."""
    bound = losses.LOSSES[name](*tensors(batch))
    increases = torch.tensor([by_the_book.increase(row.s, row.c, row.k) for row in batch])
    assert (bound >= increases - 1e-9).all()


@pytest.mark.parametrize("name", [n for n, f in losses.LOSSES.items() if not f.bounds_cost])
def test_theorem_2_the_other_losses_do_not(name):
    scores = torch.tensor([[0.1, 0.0, -1.0]], dtype=torch.float64)
    costs = torch.tensor([[9.0, 0.0, 9.0]], dtype=torch.float64)
    assert losses.LOSSES[name](scores, costs, 1) < 9


@bounding
@given(tree=trees(root_terminal=False, equal_depth=True), k=widths)
def test_theorem_2_bounds_the_cost_of_the_output(name, tree, k):
    """c(y) <= c*(b_1) + sum of the losses, along the learned policy's own trajectory."""
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k)
    bound = path.oracle.initial() + path.losses(losses.LOSSES[name])
    assert path.final_costs[0] <= bound[0] + 1e-9


@given(rows(), st.integers(8, 12))
def test_appendix_b_upper_bound_is_zero_when_all_fit(row, k):
    scores, costs, _, mask = tensors([row])
    assert losses.upper_bound(scores, costs, k, mask) == 0


@given(rows())
def test_appendix_b_upper_bound_is_a_weighted_hinge_when_greedy(row):
    scores, costs, _, mask = tensors([row])
    best = by_the_book.star(row.c)[0]
    hinges = [
        (c - row.c[best]) * max(0.0, s - row.s[best] + 1) for s, c in zip(row.s, row.c, strict=True)
    ]
    assert losses.upper_bound(scores, costs, 1, mask).item() == pytest.approx(max(hinges))


@convex
@given(batch=beams(), seed=st.integers(0, 99), alpha=st.floats(0, 1))
def test_section_4_1_convexity(name, batch, seed, alpha):
    """Jensen, for the losses that are called convex."""
    one, costs, width, mask = tensors(batch)
    generator = torch.Generator().manual_seed(seed)
    two = torch.randn(one.shape, generator=generator, dtype=torch.float64) * 3
    one = one.masked_fill(~mask, 0.0)
    loss = losses.LOSSES[name]
    between = loss(alpha * one + (1 - alpha) * two, costs, width, mask)
    chord = alpha * loss(one, costs, width, mask) + (1 - alpha) * loss(two, costs, width, mask)
    assert (between <= chord + 1e-9).all()


@pytest.mark.parametrize("name", [n for n, f in losses.LOSSES.items() if not f.convex])
def test_section_4_1_the_remaining_losses_are_not_convex(name):
    """For each there is a chord below the loss."""
    generator = torch.Generator().manual_seed(0)
    costs = torch.tensor([0.0, 1.0, 2.0, 5.0, 5.0, 5.0]).double().expand(20000, 6)
    one, two = (
        torch.randint(-6, 7, (20000, 6), generator=generator).double() / 2 for _ in range(2)
    )
    loss = losses.LOSSES[name]
    chord = (loss(one, costs, 3) + loss(two, costs, 3)) / 2
    assert (loss((one + two) / 2, costs, 3) > chord + 1e-6).any()


def test_appendix_c_first_example_updating_only_on_increase_is_not_convex():
    costs = torch.tensor([[0.0, 1.0, 1.0]])
    one, two = torch.tensor([[1.0, 10.0, 0.0]]), torch.tensor([[1.0, 0.0, 10.0]])
    loss = losses.only_on_increase(losses.upper_bound)
    assert loss(one, costs, 2) == 0
    assert loss(two, costs, 2) == 0
    assert loss((one + two) / 2, costs, 2) > 0
    assert losses.upper_bound.convex
    assert not loss.convex


def tagging(seed, lengths=(4, 2, 3), tags=5):
    """Sentences with gold tags, and a scorer with a number for every (word, tag, last tag)."""
    generator = torch.Generator().manual_seed(seed)
    gold = [torch.randint(0, tags, (n,), generator=generator).tolist() for n in lengths]
    table = torch.randn(max(lengths), tags + 1, tags, generator=generator, dtype=torch.float64)
    return gold, table.requires_grad_()


def cross_entropy(table, history, gold):
    """-log p(gold | history) summed over words, written out."""
    total = torch.zeros((), dtype=torch.float64)
    last = table.shape[1] - 1
    for word, (taken, right) in enumerate(zip(history, gold, strict=True)):
        total = total + functional.cross_entropy(table[word, last][None], torch.tensor([right]))
        last = taken
    return total


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("accumulate", [True, False])
def test_table_1_log_likelihood_is_cross_entropy(seed, accumulate):
    gold, table = tagging(seed)
    row = bl.ALGORITHMS["log_likelihood"]
    path = bl.beam_trajectory(
        HammingTask(5).space(gold),
        TableScorer(table, accumulate=accumulate, normalize="log_softmax"),
        width=row.width,
        strategy=row.strategy,
    )
    expected = torch.stack([cross_entropy(table, tags, tags) for tags in gold])
    incurred = path.losses(row.loss)
    torch.testing.assert_close(incurred, expected)
    one, two = (torch.autograd.grad(x.sum(), table)[0] for x in (incurred, expected))
    torch.testing.assert_close(one, two)


@pytest.mark.parametrize("seed", range(5))
def test_table_1_dagger_is_cross_entropy_on_its_own_trajectory(seed):
    gold, table = tagging(seed)
    row = bl.ALGORITHMS["dagger"]
    path = bl.beam_trajectory(
        HammingTask(5).space(gold), TableScorer(table), width=row.width, strategy=row.strategy
    )
    expected = []
    for tags in gold:
        greedy, last = [], table.shape[1] - 1
        for word in range(len(tags)):
            last = int(table[word, last].argmax())
            greedy.append(last)
        expected.append(cross_entropy(table, greedy, tags))
    torch.testing.assert_close(path.losses(row.loss), torch.stack(expected))


@given(trees(equal_depth=True))
def test_algorithm_1_width_1_is_greedy(tree):
    path = ()
    while tree.neighbors(path):
        path = max(tree.neighbors(path), key=lambda v: (tree.score(v), -v[-1]))
    assert bl.beam_search(tree.space(), scorer_of(tree), width=1).outputs[0][-1] == path


@given(trees())
def test_algorithm_1_width_of_all_leaves_is_exhaustive(tree):
    leaves = by_the_book.exhaustive(tree.neighbors, tree.score, ())
    result = bl.beam_search(tree.space(), scorer_of(tree), width=len(tree.children))
    found = [h.output[-1] for h in result.nbest[0]]
    assert sorted(found) == sorted(leaves)
    assert tree.score(found[0]) == tree.score(leaves[0])
    everything = bl.exhaustive_search(tree.space(), scorer_of(tree))
    assert [h.output for h in everything.nbest[0]] == [h.output for h in result.nbest[0]]


@given(tree=trees(root_terminal=False), k=widths)
def test_section_3_the_oracle_never_increases_cost(tree, k):
    path = bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, strategy=Oracle())
    assert path.final_costs[0] == tree.cstar(())
    assert {min(costs) for costs in path.costs[0]} == {tree.cstar(())}


@given(tree=trees(root_terminal=False), k=widths)
def test_theorem_4_the_indicator_is_one_question_for_stop_reset_and_continue(tree, k):
    """On policy exactly if the learned policy alone meets no increase before its last step."""

    def roll(strategy):
        return bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, strategy=strategy)

    free = roll(Continue())
    clean = not any(free.increased[0][:-1])
    assert bool(free.on_policy[0])
    for strategy in (Stop(), Reset(), Reset("oracle_beam"), Reset("keep")):
        assert bool(roll(strategy).on_policy[0]) == clean


@given(tree=trees(root_terminal=False), k=widths)
def test_appendix_e_interpolation_ends_are_continue_and_oracle(tree, k):
    def roll(strategy):
        return bl.beam_trajectory(tree.space(), scorer_of(tree), width=k, strategy=strategy)

    for beta, strategy in ((0.0, Continue()), (1.0, Oracle())):
        mixed, pure = roll(Interpolate(beta)), roll(strategy)
        assert mixed.beams == pure.beams
        assert mixed.increased == pure.increased
        assert torch.equal(mixed.on_policy, pure.on_policy)


def test_appendix_a_shorter_paths_are_padded():
    """A finished hypothesis keeps its slot and its score until all are finished."""
    space = bl.GraphSpace("", lambda w: ["x"] + [w + "a"] * (len(w) < 3) if "x" not in w else [])
    score = {"x": 1.5, "a": 1.0, "aa": 1.0, "aaa": 2.0}
    result = bl.beam_search(space, bl.FunctionScorer(lambda path: score[path[-1]]), width=2)
    ends = [[path[-1] for path in beam] for beam in result.beams[0]]
    assert ends[:3] == [[""], ["x", "a"], ["x", "x"]]


def test_space_of_the_tagging_tests_is_exact():
    gold, _ = tagging(0)
    space = TaggingSpace(gold, 5)
    cost = lambda example, tags: sum(a != b for a, b in zip(tags, gold[example], strict=True))  # noqa: E731
    assert bl.check_oracle(space, cost=cost).ok
