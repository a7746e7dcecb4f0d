import random
from zlib import crc32

import pytest
from trees import (
    losing,
    random_projective_tree,
    random_tree,
    space_of,
    true_cost,
    with_relations,
)

import beamlearn as bl
from beamlearn.data.trees import fault
from beamlearn.tasks.parsing.arc_hybrid import ArcHybrid, ArcHybridOracle
from beamlearn.tasks.parsing.completion import CompletionOracle

SYSTEM = ArcHybrid()


def projective_trees(n, count, seed, relations=("a",)):
    rng = random.Random(seed)
    trees = [with_relations(random_projective_tree(n, rng), rng, relations) for _ in range(count)]
    return [losing(tree, rng) if rng.random() < 0.3 else tree for tree in trees]


@pytest.mark.parametrize("cost", ["labeled", "unlabeled"])
@pytest.mark.parametrize(
    ("n", "count", "relations"), [(1, 5, "ab"), (2, 30, "ab"), (3, 60, "ab"), (4, 60, "a")]
)
def test_costs_are_minima_over_all_completions(n, count, relations, cost):
    trees = projective_trees(n, count, seed=n, relations=tuple(relations))
    space = space_of(SYSTEM, trees, tuple(relations), cost)
    assert isinstance(space.oracle(), ArcHybridOracle)
    check = bl.check_oracle(space, cost=true_cost(trees, cost), limit=10**6)
    assert check.exhaustive
    assert check.mistakes == []


def test_costs_are_minima_over_all_completions_of_six_words():
    trees = projective_trees(6, 3, seed=0)
    check = bl.check_oracle(space_of(SYSTEM, trees), cost=true_cost(trees), limit=10**6)
    assert check.exhaustive
    assert check.mistakes == []


def test_crossing_arcs_are_costed_by_dynamic_programming():
    assert isinstance(
        space_of(SYSTEM, [[(3, "a"), (0, "root"), (2, "a")]]).oracle(), CompletionOracle
    )


@pytest.mark.parametrize("width", [1, 3, 20])
def test_every_parse_is_a_tree_with_one_root(width):
    rng = random.Random(0)
    trees = [with_relations(random_tree(n, rng), rng) for n in (1, 2, 3, 5, 8)]
    space = space_of(SYSTEM, trees)
    noise = bl.FunctionScorer(lambda output: crc32(str(output).encode()) % 1000 / 1000)
    for found in bl.beam_search(space, noise, width).nbest:
        for way in found:
            heads = [head for head, _ in way.output]
            assert fault(heads) is None
            assert {name for head, name in way.output if head == 0} == {"root"}


def test_a_parse_takes_two_transitions_for_each_word():
    rng = random.Random(1)
    trees = [with_relations(random_projective_tree(n, rng), rng) for n in (1, 4, 9)]
    path = bl.beam_trajectory(space_of(SYSTEM, trees), bl.FunctionScorer(len), width=4)
    assert path.steps.tolist() == [2, 8, 18]


def test_following_the_oracle_builds_the_right_tree():
    rng = random.Random(2)
    trees = [with_relations(random_projective_tree(n, rng), rng, ("a", "b")) for n in (1, 7, 12)]
    space = space_of(SYSTEM, trees, ("a", "b"))
    path = bl.beam_trajectory(space, bl.FunctionScorer(len), width=1, strategy="oracle")
    assert [beams[-1][0] for beams in path.beams] == trees
    assert path.final_costs.tolist() == [0.0, 0.0, 0.0]
