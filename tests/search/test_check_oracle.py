import pytest
import torch
from generate import trees
from hypothesis import given
from spaces import HammingOracle, TaggingSpace

import beamlearn as bl


@given(trees(root_terminal=False))
def test_brute_force_agrees_with_the_book(tree):
    space = tree.space()
    brute = bl.BruteForceOracle(space, lambda _, path: tree.costs[path[-1]])
    assert bl.check_oracle(space, brute).ok
    assert brute.initial().tolist() == [tree.cstar(())]
    for strategy in bl.strategies.Oracle(), bl.strategies.Reset("keep"):
        scorer = bl.FunctionScorer(lambda path: tree.scores[path[-1]])
        one, two = (
            bl.beam_trajectory(space, scorer, width=2, strategy=strategy, oracle=oracle)
            for oracle in (None, brute)
        )
        assert one.costs == two.costs
        assert one.beams == two.beams


def test_brute_force_knows_an_initial_node_that_is_terminal():
    space = bl.GraphSpace("done", lambda _: [])
    assert bl.BruteForceOracle(space, lambda *_: 2.5).initial().tolist() == [2.5]


GOLD = [[0, 1, 1], [2], [1, 0]]


def hamming(example, tags):
    return sum(a != b for a, b in zip(tags, GOLD[example], strict=True))


class Wrong(HammingOracle):
    """Forgets the errors of the second word."""

    def advance(self, memory, nodes, move):
        if nodes.step == 2:
            return move.follow(memory)
        return super().advance(memory, nodes, move)


@pytest.mark.parametrize("limit", [20_000, 0], ids=["listed", "walked"])
def test_a_right_oracle_passes(limit, generator):
    space = TaggingSpace(GOLD, 3)
    check = bl.check_oracle(space, cost=hamming, limit=limit, generator=generator)
    assert check.ok
    assert check.exhaustive == bool(limit)


@pytest.mark.parametrize("limit", [20_000, 0], ids=["listed", "walked"])
def test_a_wrong_oracle_is_found_out(limit, generator):
    space = TaggingSpace(GOLD, 3)
    check = bl.check_oracle(space, Wrong(space), cost=hamming, limit=limit, generator=generator)
    assert not check.ok
    mistake = check.mistakes[0]
    assert mistake.example == 0
    assert mistake.true != mistake.claimed
    if limit:
        assert mistake.output == [0, 0, 0]
        assert (mistake.claimed, mistake.true) == (1.0, 2.0)


def test_without_costs_the_oracle_must_at_least_agree_with_itself(generator):
    space = TaggingSpace(GOLD, 3)
    assert bl.check_oracle(space, Wrong(space), limit=0, generator=generator).mistakes
    assert not bl.check_oracle(space, Wrong(space)).ok


class CostedSpace(TaggingSpace):
    """Knows what an output costs."""

    def cost(self, example, output):
        return hamming(example, output)


class AllZero(HammingOracle):
    def costs(self, memory, nodes):
        return torch.zeros_like(super().costs(memory, nodes))


def wants_another_tag(space):
    """An oracle that takes the tag after the right one for right."""
    return HammingOracle(TaggingSpace([[(tag + 1) % 3 for tag in row] for row in GOLD], 3))


@pytest.mark.parametrize("limit", [20_000, 0], ids=["listed", "walked"])
@pytest.mark.parametrize("wrong", [AllZero, wants_another_tag], ids=["zero", "another tag"])
def test_a_consistent_oracle_is_compared_with_the_costs_of_the_space(wrong, limit, generator):
    options = {"limit": limit, "generator": generator}
    space = CostedSpace(GOLD, 3)
    check = bl.check_oracle(space, wrong(space), **options)
    assert check.mistakes
    assert not check.ok
    assert str(check).startswith("wrong: ")
    assert str(bl.check_oracle(space, **options)).startswith("ok: ")
    without = TaggingSpace(GOLD, 3)
    unsure = bl.check_oracle(without, wrong(without), **options)
    assert not unsure.mistakes
    assert not unsure.ok
    assert repr(unsure).startswith("<OracleCheck: self-consistent; not compared with any cost")


def test_the_first_mistake_is_told():
    space = CostedSpace([[0, 1], [2]], 3)
    assert str(bl.check_oracle(space, AllZero(space), cost=lambda *_: 2)) == (
        "wrong: 17 costs; for [] of example 0 the oracle says 0, not 2"
    )


@pytest.mark.parametrize("limit", [20_000, 0], ids=["listed", "walked"])
def test_an_initial_node_that_is_terminal_has_a_cost(limit):
    space = bl.GraphSpace("done", lambda _: [], cost=lambda path: 2.5)
    assert bl.check_oracle(space, limit=limit).ok
    check = bl.check_oracle(space, cost=lambda *_: 3.5, limit=limit)
    (mistake,) = check.mistakes
    assert (mistake.claimed, mistake.true) == (2.5, 3.5)
    unknown = bl.GraphSpace("done", lambda _: [])
    oracle = bl.BruteForceOracle(unknown, lambda *_: 2.5)
    assert not bl.check_oracle(unknown, oracle, limit=limit).ok


class Cheapest(HammingOracle):
    full = False

    def costs(self, memory, nodes):
        costs = super().costs(memory, nodes)
        return (costs > costs.amin(dim=(-1, -2), keepdim=True)).double()


class WrongCheapest(Cheapest):
    def costs(self, memory, nodes):
        return 1 - super().costs(memory, nodes)


def test_an_oracle_of_the_cheapest_neighbor_only():
    space = TaggingSpace(GOLD, 3)
    assert bl.check_oracle(space, Cheapest(space), cost=hamming).ok
    assert not bl.check_oracle(space, WrongCheapest(space), cost=hamming).ok
    walked = bl.check_oracle(space, Cheapest(space), cost=hamming, limit=0)
    assert (walked.mistakes, walked.ok) == ([], False)  # nothing can be compared on the way


def test_spaces_too_large_to_list():
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 9 else [], cost=len)
    with pytest.raises(ValueError, match="if it has at most `limit` = 8 nodes"):
        bl.BruteForceOracle(space, lambda *_: 0.0, limit=8)


def test_wrong_shape_of_costs():
    class Flat(HammingOracle):
        def costs(self, memory, nodes):
            return super().costs(memory, nodes)[..., :2]

    space = TaggingSpace(GOLD, 3)
    scorer = bl.FunctionScorer(len)
    with pytest.raises(
        ValueError, match=r"oracle must give costs of shape \(3, 1, 3\).*\(3, 1, 2\)"
    ):
        bl.beam_trajectory(space, scorer, oracle=Flat(space))


def test_an_inexact_oracle_is_measured_against_its_cheapest_neighbor():
    """Decision 14: even if c*(b) was promised lower, the oracle's own step is no increase."""

    class Optimist(HammingOracle):
        exact = False

        def initial(self):
            return super().initial() - 5

    space = TaggingSpace(GOLD, 3)
    scorer = bl.FunctionScorer(lambda tags: -hamming_prefix(tags))
    path = bl.beam_trajectory(space, scorer, width=1, oracle=Optimist(space))
    assert path.increased == [[False] * 3, [True], [True, True]]
    assert torch.equal(path.final_costs, torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64))


def hamming_prefix(tags):
    """Wrong tags so far, by the first sentence."""
    return sum(a != b for a, b in zip(tags, GOLD[0], strict=False))
