import random

import pytest
import torch
from spaces import HashedScorer
from trees import (
    follow,
    is_projective,
    losing,
    random_projective_tree,
    random_tree,
    single_rooted,
    space_of,
    true_cost,
    with_relations,
)

import beamlearn as bl
from beamlearn.search.brute_force import actions_to, levels
from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing import tabular
from beamlearn.tasks.parsing.actions import LOST
from beamlearn.tasks.parsing.ancestry import Ancestry
from beamlearn.tasks.parsing.arc_standard import ArcStandard
from beamlearn.tasks.parsing.space import ParsingSpace
from beamlearn.tasks.parsing.tabular import LEFT, RIGHT, ROOT, SHIFT

TWO = {"relations": ("a", "b"), "roots": ("root", "top")}


def trees_of(shape, lengths, rng, relations=("a",), roots=("root",)):
    """Random trees, half of them with words whose arcs no action makes."""
    trees = [with_relations(shape(n, rng), rng, relations, roots) for n in lengths]
    return [losing(tree, rng) if rng.random() < 0.5 else tree for tree in trees]


def with_chart(space):
    """The oracle that takes no tree for projective."""
    oracle = space.oracle()
    ancestry = oracle.ancestry
    oracle.ancestry = Ancestry(ancestry.above, torch.ones_like(ancestry.tangled))
    return oracle


def check_all(trees, cost="labeled", oracle_of=ParsingSpace.oracle, **names):
    space = space_of(ArcStandard(), trees, cost=cost, **names)
    check = bl.check_oracle(space, oracle_of(space), cost=true_cost(trees, cost), limit=10**6)
    assert check.exhaustive
    assert check.mistakes == []


def wandering(space, oracles, generator, k=3):
    """The costs of legal actions that oracles give along random beams, all beams the same."""
    nodes, memories = space.initial(), [oracle.start() for oracle in oracles]
    while len(nodes.examples):
        legal = space.expand(nodes).legal
        yield [oracle.costs(m, nodes)[legal] for oracle, m in zip(oracles, memories, strict=True)]
        luck = torch.rand(legal.shape, generator=generator)
        # Half of the actions are good ones.
        luck -= (
            memories[0].costs * (torch.rand(legal.shape[:2], generator=generator) < 0.5)[..., None]
        )
        actions = luck.masked_fill(~legal, -torch.inf).argmax(dim=-1)
        slots = torch.randint(legal.shape[1], (len(legal), k), generator=generator)
        actions = actions.gather(1, slots)
        rows = (actions[:, 0] != ROOT).nonzero()[:, 0]
        none = torch.zeros(len(rows), k, dtype=torch.bool)
        move = Move(rows, slots[rows], actions[rows], none, none)
        nodes = space.advance(nodes, move)
        memories = [o.advance(m, nodes, move) for o, m in zip(oracles, memories, strict=True)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_parses_are_the_projective_trees_with_one_root(n):
    space = space_of(ArcStandard(), [[(0, "root")] * n])
    found = levels(space, 10**6)
    assert len(found) == 2 * n
    assert all(level.legal.any(dim=-1).all() for level in found)  # no dead end
    assert not any(level.terminal.any() for level in found[:-1])
    slots, actions = found[-1].terminal[0].nonzero().T.tolist()
    paths = [
        [*actions_to(found, 2 * n - 1, 0, slot), action]
        for slot, action in zip(slots, actions, strict=True)
    ]
    outputs = space.outputs([0] * len(paths), paths)
    heads = {tuple(head for head, _ in output) for output in outputs}
    assert heads == {heads for heads in single_rooted(n) if is_projective(heads)}


def test_a_parse_by_hand():
    space = space_of(ArcStandard(), [[(3, "a"), (3, "a"), (0, "root"), (5, "a"), (3, "a")]])
    actions = [SHIFT, SHIFT, SHIFT, LEFT, LEFT, SHIFT, SHIFT, LEFT, RIGHT, ROOT]
    nodes, costs = follow(space, actions[:-1])
    assert [space.system.words(node)[0, 0].tolist() for node in nodes] == [
        [0, 0, 0, 1],
        [0, 0, 1, 2],
        [0, 1, 2, 3],
        [1, 2, 3, 4],
        [0, 1, 3, 4],
        [0, 0, 3, 4],
        [0, 3, 4, 5],
        [3, 4, 5, 0],
        [0, 3, 5, 0],
        [0, 0, 3, 0],
    ]
    assert [space.system.legal(node)[0, 0].nonzero()[:, 0].tolist() for node in nodes] == [
        [SHIFT],
        [SHIFT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT],
        [SHIFT, LEFT, RIGHT],
        [LEFT, RIGHT],
        [LEFT, RIGHT],
        [ROOT],
    ]
    assert costs == [[0]] * 10
    assert [head for head, _ in space.outputs([0], [actions])[0]] == [3, 3, 0, 5, 3]


def test_words_below_the_visible_ones_come_back():
    space = space_of(ArcStandard(), [[(0, "root")] * 6])
    nodes, _ = follow(space, [SHIFT] * 6 + [LEFT, RIGHT, LEFT, RIGHT])
    words = [space.system.words(node)[0, 0].tolist() for node in nodes[6:]]
    assert words == [[4, 5, 6, 0], [3, 4, 6, 0], [2, 3, 4, 0], [1, 2, 4, 0], [0, 1, 2, 0]]


def test_arcs_that_are_reachable_one_by_one_but_not_together():
    # On the stack 1 2 3, 1 -> 2 needs 3 to go below 2, and 1 -> 3 needs 2 to go below 3.
    both, first, second = (0, 1, 1), (0, 1, LOST), (0, LOST, 1)
    trees = [with_relations(heads, random.Random(0)) for heads in (both, first, second)]
    _, costs = follow(space_of(ArcStandard(), trees), [SHIFT] * 3)
    assert costs == [[0, 1, 1], [0, 1, 1], [0, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("cost", ["labeled", "unlabeled"])
@pytest.mark.parametrize(("n", "count"), [(1, 10), (2, 20), (3, 20)])
def test_costs_are_minima_over_all_completions_with_two_relations(cost, n, count):
    check_all(trees_of(random_tree, [n] * count, random.Random(n), **TWO), cost, **TWO)


def test_every_tree_of_four_words():
    trees = [[(head, "a" if head else "root") for head in heads] for heads in single_rooted(4)]
    check_all(trees)
    check_all([losing(tree, random.Random(i), 0.4) for i, tree in enumerate(trees)])


@pytest.mark.parametrize("shape", [random_projective_tree, random_tree])
@pytest.mark.parametrize(("n", "count"), [(5, 20), (6, 4)])
def test_costs_are_minima_over_all_completions(shape, n, count):
    check_all(trees_of(shape, [n] * count, random.Random(n)))


@pytest.mark.parametrize("shape", [random_projective_tree, random_tree])
def test_sentences_of_several_lengths(shape):
    check_all(trees_of(shape, [4, 1, 3, 2, 5, 4, 1, 3], random.Random(0)))


@pytest.mark.parametrize("oracle_of", [ParsingSpace.oracle, with_chart])
def test_several_words_may_belong_to_the_root(oracle_of):
    heads = [[0, 1, 0, 3, 0], [2, 0, 0, 3, 0], [0, 0, 4, 0], [0] * 5, [3, 0, 0, 0]]
    trees = [with_relations(tree, random.Random(0)) for tree in heads]
    check_all(trees, oracle_of=oracle_of)


@pytest.mark.parametrize("shape", [random_projective_tree, random_tree])
@pytest.mark.parametrize("cost", ["labeled", "unlabeled"])
def test_longer_sentences(shape, cost, generator):
    trees = trees_of(shape, [10, 12, 15] * 4, random.Random(8), **TWO)
    space = space_of(ArcStandard(), trees, cost=cost, **TWO)
    check = bl.check_oracle(
        space, cost=true_cost(trees, cost), limit=100, walks=2, generator=generator
    )
    assert not check.exhaustive
    assert check.mistakes == []


@pytest.mark.parametrize("byte", [100, 1])
def test_few_words_of_the_buffer_say_as_much_as_all(byte, generator, monkeypatch):
    monkeypatch.setattr(tabular, "BYTE", byte)
    rng = random.Random(byte)
    trees = trees_of(random_projective_tree, [rng.randint(6, 15) for _ in range(40)], rng)
    space = space_of(ArcStandard(), trees)
    oracles = space.oracle(), with_chart(space)
    assert oracles[0].chart is None
    assert torch.equal(*(oracle.initial() for oracle in oracles))
    for few, all in wandering(space, oracles, generator):
        assert torch.equal(few, all)


def test_tangled_trees_are_those_with_crossing_arcs():
    rng = random.Random(0)
    trees = [random_tree(6, rng) for _ in range(200)]
    tangled = Ancestry.of(torch.tensor([[LOST, *heads] for heads in trees])).tangled
    assert tangled.tolist() == [not is_projective(heads) for heads in trees]


def test_no_head_makes_a_word_a_projective_part_of_what_is_below_it():
    # 2 -> 3 -> 1, whatever the head of 2 is.
    assert Ancestry.of(torch.tensor([[LOST, 3, LOST, 2]])).tangled.tolist() == [True]
    check_all([[(3, "a"), (LOST, "?"), (2, "a"), (0, "root")]])


def test_projective_trees_are_found_by_their_costs():
    rng = random.Random(0)
    trees = [with_relations(random_projective_tree(n, rng), rng) for n in (1, 2, 5, 9, 12)]
    space = space_of(ArcStandard(), trees)
    path = bl.beam_trajectory(space, HashedScorer(), width=1, strategy=bl.strategies.Oracle())
    assert path.final_costs.tolist() == [0] * 5


@pytest.mark.parametrize("width", [1, 3, 20])
def test_beams_of_trees(width):
    trees = trees_of(random_tree, [1, 4, 2, 6, 1], random.Random(width))
    space = space_of(ArcStandard(), trees)
    path = bl.beam_trajectory(space, HashedScorer(), width=width)
    trace = path.trace
    outputs = [trace.outputs(example, [trace.last(example, 0)])[0] for example in range(5)]
    expected = [true_cost(trees)(example, output) for example, output in enumerate(outputs)]
    assert path.final_costs.tolist() == expected
