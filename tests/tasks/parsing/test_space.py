import random

import pytest
import torch
from trees import losing, random_projective_tree, space_of, true_cost, with_relations

import beamlearn as bl
from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing.arc_hybrid import ArcHybrid
from beamlearn.tasks.parsing.model import SYSTEMS
from beamlearn.tasks.parsing.space import ParsingExample, ParsingSpace

systems = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def space(system, lengths, seed=0):
    rng = random.Random(seed)
    trees = [with_relations(random_projective_tree(n, rng), rng, ("a", "b")) for n in lengths]
    return space_of(system, trees, ("a", "b")), trees


def walk(space, seed, slots=3):
    """The configurations of random walks, batch by batch."""
    rng = random.Random(seed)
    nodes = space.initial()
    while len(nodes.examples):
        yield nodes
        expansion = space.expand(nodes)
        legal = expansion.legal.tolist()
        ended = [bool(row) for row in expansion.ending.all(dim=-1)]
        rows = [row for row, done in enumerate(ended) if not done]
        parents = [[rng.randrange(len(legal[row])) for _ in range(slots)] for row in rows]
        taken = [
            [rng.choice([a for a, able in enumerate(legal[row][slot]) if able]) for slot in chosen]
            for row, chosen in zip(rows, parents, strict=True)
        ]
        shape = (len(rows), slots)
        moved = (torch.tensor(field, dtype=torch.long).view(shape) for field in (parents, taken))
        idle = torch.zeros(shape, dtype=torch.bool)
        nodes = space.advance(nodes, Move(torch.tensor(rows, dtype=torch.long), *moved, idle, idle))


@systems
def test_where_only_the_root_is_left_the_space_says_so(system):
    parses, _ = space(system, (1, 2, 4, 6))
    for nodes in walk(parses, seed=1):
        expansion = parses.expand(nodes)
        assert expansion.legal.any(dim=-1).all()
        only = (expansion.terminal | ~expansion.legal).all(dim=-1)
        assert torch.equal(expansion.ending, only)


@systems
def test_the_scorer_sees_words_of_the_sentence(system):
    parses, _ = space(system, (1, 3, 7))
    for nodes in walk(parses, seed=2):
        words = system.words(nodes)
        assert words.shape[2] == len(system.positions)
        assert (words >= 0).all()
        assert (words <= nodes.lengths[:, None, None]).all()


@systems
def test_following_the_oracle_builds_the_right_trees(system):
    parses, trees = space(system, (1, 2, 5, 8))
    zero = bl.FunctionScorer(lambda _: 0.0)
    path = bl.beam_trajectory(parses, zero, width=2, strategy="oracle")
    assert path.final_costs.tolist() == [0.0] * 4
    assert [beams[-1][0] for beams in path.beams] == trees


@systems
def test_what_is_built_so_far(system):
    parses, _ = space(system, (3,))
    (nothing,) = parses.outputs([0], [[]])
    assert nothing == [(-1, "")] * 3
    assert parses.outputs([], []) == []


@systems
def test_costs_do_not_depend_on_the_batch(system):
    parses, trees = space(system, (5, 2, 7, 4), seed=3)
    zero = bl.FunctionScorer(lambda output: -sum(head for head, _ in output))
    together = bl.beam_trajectory(parses, zero, width=3).costs
    for alone, expected in zip(trees, together, strict=True):
        single = bl.beam_trajectory(space_of(system, [alone], ("a", "b")), zero, width=3)
        assert single.costs == [expected]


@systems
def test_costs_are_right_with_more_relations_to_the_root_than_to_words(system):
    trees = [[(2, "a"), (0, root)] for root in ("ask", "say", "tell")]
    parses = space_of(system, trees, roots=("ask", "say", "tell"))
    assert bl.check_oracle(parses, cost=true_cost(trees)).mistakes == []
    assert bl.check_oracle(parses).ok


def test_the_space_knows_what_outputs_cost():
    tree = [(2, "a"), (0, "root"), (2, "b")]
    output = [(2, "b"), (0, "root"), (1, "b")]
    for cost, wrong in (("labeled", 2), ("unlabeled", 1)):
        parses = space_of(
            ArcHybrid(), [tree, losing(tree, random.Random(0), 1.0)], ("a", "b"), cost
        )
        assert parses.cost(0, tree) == 0
        assert parses.cost(0, output) == wrong
        assert parses.cost(1, tree) == 3
    bare = ParsingSpace([ParsingExample(torch.zeros(2, 1).long())], ArcHybrid(), parses.actions)
    assert bare.cost(0, output) is None


def test_pick():
    field = torch.arange(2 * 2 * 3).view(2, 2, 3)
    slots, actions = torch.tensor([[1, 0]]), torch.tensor([[2, 1]])
    idle = torch.zeros(1, 2, dtype=torch.bool)
    move = Move(torch.tensor([1]), slots, actions, idle, idle)
    assert move.pick(field).tolist() == [[int(field[1, 1, 2]), int(field[1, 0, 1])]]
