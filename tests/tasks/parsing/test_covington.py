import random

import pytest
from spaces import HashedScorer
from trees import (
    follow,
    is_projective,
    losing,
    random_tree,
    single_rooted,
    space_of,
    true_cost,
    with_relations,
)

import beamlearn as bl
from beamlearn.data.trees import fault
from beamlearn.search.brute_force import actions_to, levels
from beamlearn.tasks.parsing.actions import LOST
from beamlearn.tasks.parsing.covington import LEFT, PASS, RIGHT, ROOT, SHIFT, Covington
from beamlearn.tasks.parsing.system import NONE


def random_trees(lengths, rng, relations=("a",), roots=("root",)):
    """Any trees, half of them with words whose arcs no action makes."""
    trees = [with_relations(random_tree(n, rng), rng, relations, roots) for n in lengths]
    return [losing(tree, rng) if rng.random() < 0.5 else tree for tree in trees]


def check_all(trees, cost="labeled", **names):
    space = space_of(Covington(), trees, cost=cost, **names)
    check = bl.check_oracle(space, cost=true_cost(trees, cost), limit=10**6)
    assert check.exhaustive
    assert check.mistakes == []


class ByCosts(bl.Scorer):
    """The negative costs of an oracle."""

    def __init__(self, oracle):
        super().__init__()
        self.oracle = oracle

    def start(self, space):
        return self.oracle.start()

    def score(self, memory, nodes):
        return -self.oracle.costs(memory, nodes)

    def advance(self, memory, nodes, move):
        return self.oracle.advance(memory, nodes, move)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_parses_are_the_trees_with_one_root(n):
    space = space_of(Covington(), [[(0, "root")] * n])
    found = levels(space, 10**6)
    assert len(found) <= space.system.steps(n)
    outputs = set()
    for depth, level in enumerate(found):
        assert level.legal.any(dim=-1).all()  # no dead end
        possible = level.legal[..., [LEFT, RIGHT]].any(dim=-1) | level.nodes.last
        assert ((level.nodes.i == NONE) | possible).all()
        paths = [
            [*actions_to(found, depth, 0, slot), action]
            for _, slot, action in level.terminal.nonzero().tolist()
        ]
        for output in space.outputs([0] * len(paths), paths):
            outputs.add(tuple(head for head, _ in output))
    assert outputs == set(single_rooted(n))
    assert len(outputs) == n ** (n - 1)


def test_a_parse_by_hand():
    space = space_of(Covington(), [[(3, "a"), (4, "a"), (0, "root"), (3, "a")]])
    actions = [SHIFT, PASS, LEFT, SHIFT, RIGHT, LEFT, ROOT]
    nodes, costs = follow(space, actions[:-1])
    assert [space.system.words(node)[0, 0].tolist() for node in nodes] == [
        [0, 1, 2, 3],
        [1, 2, 3, 4],
        [0, 1, 3, 4],
        [0, 0, 3, 4],
        [2, 3, 4, 0],
        [1, 2, 4, 0],
        [0, 0, 4, 0],
    ]
    assert [space.system.legal(node)[0, 0].nonzero()[:, 0].tolist() for node in nodes] == [
        [SHIFT, LEFT, RIGHT],
        [SHIFT, PASS, LEFT, RIGHT],
        [SHIFT, LEFT, RIGHT],
        [SHIFT],
        [PASS, LEFT, RIGHT],
        [LEFT],
        [ROOT],
    ]
    assert costs == [[0]] * 7
    assert [head for head, _ in space.outputs([0], [actions])[0]] == [3, 4, 0, 3]


def test_the_last_word_must_leave_one_root():
    space = space_of(Covington(), [[(2, "a"), (0, "root"), (2, "a")]] * 2)
    nodes, _ = follow(space, [LEFT, SHIFT, PASS])
    # Word 2, the top of word 1, has been passed: the last word can only go below word 1.
    assert space.system.legal(nodes[-1])[0, 0].nonzero()[:, 0].tolist() == [RIGHT]
    nodes, _ = follow(space, [SHIFT])
    # Words 1 and 2 are not connected: after PASS nothing could be done about word 2.
    assert space.system.legal(nodes[-1])[0, 0].nonzero()[:, 0].tolist() == [LEFT, RIGHT]


def test_right_arcs_in_a_cycle_with_an_arc_that_was_made():
    # 3 -> 1 and 2 -> 3 are within reach after 1 -> 2, but one of them must be lost.
    trees = [with_relations(heads, random.Random(0)) for heads in [(3, 0, 2), (3, LOST, 2)]]
    _, costs = follow(space_of(Covington(), trees), [RIGHT])
    assert costs == [[0, 1], [2, 2]]


def test_the_right_root_may_be_out_of_the_way():
    # After SHIFT 1 can get no arc from 2, and 3, the only word that could join both, is below 2.
    trees = [with_relations(heads, random.Random(0)) for heads in [(0, LOST, 2), (0, LOST, LOST)]]
    _, costs = follow(space_of(Covington(), trees), [SHIFT])
    assert costs == [[1, 2], [2, 2]]


@pytest.mark.parametrize("cost", ["labeled", "unlabeled"])
@pytest.mark.parametrize(("n", "count"), [(1, 10), (2, 30), (3, 40)])
def test_costs_are_minima_over_all_completions_with_two_relations(cost, n, count):
    names = {"relations": ("a", "b"), "roots": ("root", "top")}
    check_all(random_trees([n] * count, random.Random(n), **names), cost, **names)


def test_every_tree_of_four_words():
    trees = [[(head, "a" if head else "root") for head in heads] for heads in single_rooted(4)]
    assert not all(is_projective(heads) for heads in single_rooted(4))
    check_all(trees)
    check_all([losing(tree, random.Random(i), 0.4) for i, tree in enumerate(trees)])


@pytest.mark.slow
def test_five_words():
    check_all(random_trees([5] * 16, random.Random(5)))


def test_sentences_of_several_lengths():
    check_all(random_trees([4, 1, 3, 2, 4, 1, 3], random.Random(0)))


@pytest.mark.parametrize("cost", ["labeled", "unlabeled"])
def test_longer_sentences(cost, generator):
    names = {"relations": ("a", "b"), "roots": ("root", "top")}
    trees = random_trees([8, 9, 10, 11, 12] * 4, random.Random(8), **names)
    space = space_of(Covington(), trees, cost=cost, **names)
    check = bl.check_oracle(
        space, cost=true_cost(trees, cost), limit=100, walks=3, generator=generator
    )
    assert not check.exhaustive
    assert check.mistakes == []


def test_any_tree_is_found_by_its_costs():
    rng = random.Random(0)
    trees = [with_relations(random_tree(n, rng), rng) for n in (1, 2, 5, 9, 12, 20)]
    space = space_of(Covington(), trees)
    assert not any(space.oracle().initial().tolist())
    for width in (1, 3):
        found = bl.beam_search(space, ByCosts(space.oracle()), width=width)
        assert found.outputs == trees


@pytest.mark.parametrize("width", [1, 3, 20])
def test_beams_of_trees(width):
    rng = random.Random(width)
    trees = random_trees([1, 4, 2, 6, 1], rng)
    space = space_of(Covington(), trees)
    path = bl.beam_trajectory(space, HashedScorer(), width=width)
    trace = path.trace
    outputs = [trace.outputs(example, [trace.last(example, 0)])[0] for example in range(5)]
    expected = [true_cost(trees)(example, output) for example, output in enumerate(outputs)]
    assert path.final_costs.tolist() == expected
    for hypotheses in bl.beam_search(space, HashedScorer(), width=width).nbest:
        for hypothesis in hypotheses:
            heads = [head for head, _ in hypothesis.output]
            assert heads.count(0) == 1
            assert fault(heads) is None
