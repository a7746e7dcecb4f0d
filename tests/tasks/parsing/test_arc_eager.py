import random
from itertools import product

import pytest
import torch
from spaces import HashedScorer
from trees import is_projective, random_tree, space_of, true_cost, with_relations

import beamlearn as bl
from beamlearn.data.trees import fault
from beamlearn.search.brute_force import actions_to, levels
from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing.actions import LOST
from beamlearn.tasks.parsing.arc_eager import ATTACH, LEFT, REDUCE, RIGHT, ROOT, SHIFT, ArcEager


def walk(space, actions):
    """The configurations along some actions of the only example."""
    nodes = [space.initial()]
    for action in actions:
        none = torch.zeros(1, 1, dtype=torch.bool)
        move = Move(None, torch.zeros(1, 1).long(), torch.tensor([[action]]), none, none)
        nodes.append(space.advance(nodes[-1], move))
    return nodes


def parses(n):
    """All action lists that end, and the heads that they give."""
    space = space_of(ArcEager(), [[(0, "root")] * n])
    found = levels(space, 10**6)
    for depth, level in enumerate(found):
        paths = [
            [*actions_to(found, depth, 0, slot), action]
            for _, slot, action in level.terminal.nonzero().tolist()
        ]
        for path, output in zip(paths, space.outputs([0] * len(paths), paths), strict=True):
            yield path, tuple(head for head, _ in output)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_parses_are_the_projective_trees_with_one_root(n):
    possible = {
        heads
        for heads in product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and fault(heads) is None and is_projective(heads)
    }
    found = list(parses(n))
    assert {len(path) for path, _ in found} == {2 * n}
    assert {heads for _, heads in found} == possible


def test_a_parse_by_hand():
    space = space_of(ArcEager(), [[(2, "a"), (0, "root"), (2, "a"), (3, "a"), (2, "a")]])
    actions = [SHIFT, LEFT, SHIFT, RIGHT, SHIFT, SHIFT, ATTACH, ATTACH, REDUCE, ROOT]
    nodes = walk(space, actions[:-1])
    words = [space.system.words(node)[0, 0].tolist() for node in nodes]
    assert words == [
        [0, 0, 0, 1],
        [0, 0, 1, 2],
        [0, 0, 0, 2],
        [0, 0, 2, 3],
        [0, 2, 3, 4],
        [2, 3, 4, 5],
        [3, 4, 5, 0],
        [2, 3, 4, 0],
        [0, 2, 3, 0],
        [0, 0, 2, 0],
    ]
    possible = [space.system.legal(node)[0, 0].nonzero()[:, 0].tolist() for node in nodes]
    assert possible == [
        [SHIFT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT, RIGHT, REDUCE],
        [SHIFT, LEFT, RIGHT],
        [ATTACH],
        [ATTACH],
        [REDUCE],
        [ROOT],
    ]
    assert [node.attached.item() for node in nodes] == [i in (4, 8) for i in range(10)]
    heads = [head for head, _ in space.outputs([0], [actions])[0]]
    assert heads == [2, 0, 2, 3, 4]


def test_arcs_that_are_reachable_one_by_one_but_not_together():
    both, first, second = (0, 1, 1), (0, 1, LOST), (0, LOST, 1)
    system = ArcEager()
    trees = [with_relations(heads, random.Random(0)) for heads in (both, first, second)]
    space = space_of(system, trees)
    oracle = space.oracle()
    nodes, memory = space.initial(), oracle.start()
    for _ in range(2):
        none = torch.zeros(3, 1, dtype=torch.bool)
        move = Move(None, torch.zeros(3, 1).long(), torch.full((3, 1), SHIFT), none, none)
        nodes = space.advance(nodes, move)
        memory = oracle.advance(memory, nodes, move)
    assert oracle.initial().tolist() == [0, 1, 1]  # of words whose arcs are lost from the start
    assert memory.errors[:, 0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("width", [1, 3, 20])
def test_beams_wider_than_there_are_neighbors(width):
    rng = random.Random(width)
    trees = [with_relations(random_tree(n, rng), rng) for n in (1, 4, 2, 3, 1)]
    space = space_of(ArcEager(), trees)
    path = bl.beam_trajectory(space, HashedScorer(), width=width)
    trace = path.trace
    outputs = [trace.outputs(example, [trace.last(example, 0)])[0] for example in range(5)]
    expected = [true_cost(trees)(example, output) for example, output in enumerate(outputs)]
    assert path.final_costs.tolist() == expected
