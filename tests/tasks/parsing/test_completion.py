import random

import pytest
import torch
from trees import (
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
from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing.arc_eager import ArcEager
from beamlearn.tasks.parsing.arc_hybrid import ArcHybrid, ArcHybridOracle
from beamlearn.tasks.parsing.completion import CompletionOracle

systems = pytest.mark.parametrize("system", [ArcHybrid(), ArcEager()], ids=["hybrid", "eager"])
costs = pytest.mark.parametrize("cost", ["labeled", "unlabeled"])


def random_heads(n, rng):
    """A tree without crossing arcs, any tree, or any heads at all."""
    kind = rng.randrange(3)
    if kind == 2:
        return [rng.randint(0, n) for _ in range(n)]
    return [random_projective_tree, random_tree][kind](n, rng)


def random_trees(lengths, rng, relations=("a",), roots=("root",)):
    """Trees of all kinds, half of them with words whose arcs no action makes."""
    trees = [with_relations(random_heads(n, rng), rng, relations, roots) for n in lengths]
    return [losing(tree, rng) if rng.random() < 0.5 else tree for tree in trees]


def check_all(system, trees, cost="labeled", **others):
    space = space_of(system, trees, cost=cost, projective=False, **others)
    assert isinstance(space.oracle(), CompletionOracle)
    check = bl.check_oracle(space, cost=true_cost(trees, cost), limit=10**6)
    assert check.exhaustive
    assert check.mistakes == []
    return check.nodes


@systems
@costs
@pytest.mark.parametrize(("n", "count"), [(1, 10), (2, 40), (3, 60)])
def test_costs_are_minima_over_all_completions_with_two_relations(system, cost, n, count):
    names = {"relations": ("a", "b"), "roots": ("root", "top")}
    trees = random_trees([n] * count, random.Random(n), **names)
    check_all(system, trees, cost, **names)


@systems
@costs
@pytest.mark.parametrize(("n", "count"), [(4, 40), (5, 10), (6, 2)])
def test_costs_are_minima_over_all_completions(system, cost, n, count):
    check_all(system, random_trees([n] * count, random.Random(n)), cost)


@systems
def test_every_tree_of_four_words(system):
    trees = [[(head, "a" if head else "root") for head in heads] for heads in single_rooted(4)]
    assert len(trees) == 64
    check_all(system, trees)


@systems
def test_trees_out_of_reach_are_as_far_as_the_nearest_projective_one(system):
    every = list(single_rooted(5))
    reachable = [heads for heads in every if is_projective(heads)]
    crossing = random.Random(0).sample([heads for heads in every if not is_projective(heads)], 100)
    trees = [[(head, "a" if head else "root") for head in heads] for heads in crossing]
    space = space_of(system, trees)
    assert not space.gold.projective
    initial = space.oracle().initial().tolist()
    assert min(initial) > 0
    assert initial == [
        min(sum(a != b for a, b in zip(heads, other, strict=True)) for other in reachable)
        for heads in crossing
    ]


@systems
def test_projective_trees_are_in_reach(system):
    rng = random.Random(0)
    trees = [with_relations(random_projective_tree(n, rng), rng) for n in range(1, 20)]
    assert space_of(system, trees, projective=False).oracle().initial().tolist() == [0] * 19


@systems
def test_mixed_lengths(system):
    lengths = [1, 5, 2, 3, 4, 1, 5, 2]
    check_all(system, random_trees(lengths, random.Random(0)))


class Beams:
    """Random beams through a space, with the memories of some oracles beside them."""

    def __init__(self, space, *oracles):
        self.space, self.oracles = space, oracles
        self.nodes, self.memories = space.initial(), [oracle.start() for oracle in oracles]

    @property
    def legal(self):
        return self.space.expand(self.nodes).legal

    def costs(self):
        """What each oracle says of the legal actions."""
        pairs = zip(self.oracles, self.memories, strict=True)
        return [oracle.costs(memory, self.nodes)[self.legal] for oracle, memory in pairs]

    def go(self, move):
        before, self.nodes = self.memories, self.space.advance(self.nodes, move)
        pairs = zip(self.oracles, before, strict=True)
        self.memories = [oracle.advance(memory, self.nodes, move) for oracle, memory in pairs]

    def random_move(self, width, generator):
        """Up to `width` legal neighbors; rows that end leave."""
        legal = self.legal
        going = (legal & ~self.space.actions.terminal).flatten(1)
        rows = going.any(dim=-1).nonzero()[:, 0]
        luck = torch.rand(going.shape, generator=generator).masked_fill(~going, -1)[rows]
        fewest = int(going[rows].sum(dim=-1).min()) if len(rows) else 0
        taken = luck.topk(min(width, fewest), dim=-1).indices
        none, actions = torch.zeros_like(taken).bool(), legal.shape[-1]
        return Move(rows, taken // actions, taken % actions, none, none)


@costs
def test_the_closed_form_on_longer_projective_trees(cost, generator):
    rng, names = random.Random(0), ("a", "b", "c")
    lengths = [rng.randint(10, 15) for _ in range(12)]
    trees = [with_relations(random_projective_tree(n, rng), rng, names) for n in lengths]
    trees[::2] = [losing(tree, rng, 0.1) for tree in trees[::2]]
    spaces = [space_of(ArcHybrid(), trees, names, cost, projective=p) for p in (True, False)]
    closed, general = (space.oracle() for space in spaces)
    assert isinstance(closed, ArcHybridOracle)
    assert closed.initial().tolist() == general.initial().tolist()
    for width in (1, 4, 10):
        beams = Beams(spaces[0], closed, general)
        while len(beams.nodes.examples):
            assert torch.equal(*beams.costs())
            beams.go(beams.random_move(width, generator))


@systems
@costs
def test_longer_trees_of_any_kind(system, cost, generator):
    lengths, names = [1, 10, 12, 20], ("a", "b")
    trees = random_trees(lengths, random.Random(0), names)
    space = space_of(system, trees, names, cost, projective=False)
    check = bl.check_oracle(
        space, cost=true_cost(trees, cost), limit=1, walks=2, generator=generator
    )
    assert check.mistakes == []


def costs_along(space, paths):
    """c* of the legal neighbors along lists of actions, one per example."""
    beams = Beams(space, space.oracle())
    found = [[] for _ in paths]
    for step in range(max(map(len, paths))):
        claims = beams.oracles[0].costs(beams.memories[0], beams.nodes)[:, 0]
        for row, example in enumerate(beams.nodes.examples.tolist()):
            found[example].append(claims[row][beams.legal[row, 0]].tolist())
        going = [len(paths[example]) > step + 1 for example in beams.nodes.examples.tolist()]
        rows = torch.tensor(going).nonzero()[:, 0]
        examples = beams.nodes.examples[rows].tolist()
        actions = torch.tensor([paths[e][step] for e in examples], dtype=torch.long)[:, None]
        none = torch.zeros_like(actions).bool()
        beams.go(Move(rows, torch.zeros_like(actions), actions, none, none))
    return found


def random_path(space, generator):
    """The actions of a random parse of the only example."""
    beams, path = Beams(space), []
    while True:
        move = beams.random_move(1, generator)
        if not len(move.rows):
            return [*path, int(beams.legal[0, 0].nonzero()[0])]
        path.append(int(move.actions))
        beams.go(move)


@systems
def test_batch_law(system, generator):
    trees = random_trees([3, 1, 7, 10, 5, 7], random.Random(0))
    alone = [space_of(system, [tree], projective=False) for tree in trees]
    paths = [random_path(space, generator) for space in alone]
    assert [len(path) for path in paths] == [2 * len(tree) for tree in trees]
    expected = [costs_along(space, [path])[0] for space, path in zip(alone, paths, strict=True)]
    for order in (range(6), [4, 2, 0, 5, 1, 3]):
        space = space_of(system, [trees[i] for i in order], projective=False)
        found = costs_along(space, [paths[i] for i in order])
        assert found == [expected[i] for i in order]


@systems
def test_two_ways_from_the_same_beams(system, generator):
    trees = random_trees([6, 6, 6], random.Random(0))
    space = space_of(system, trees, projective=False)
    beams = Beams(space, space.oracle())
    for _ in range(4):
        beams.go(beams.random_move(3, generator))
    fork = beams.nodes, beams.memories
    moves = [beams.random_move(3, generator) for _ in range(2)]

    def after(move, seed):
        beams.nodes, beams.memories = fork
        source, seen = torch.Generator().manual_seed(seed), []
        beams.go(move)
        for _ in range(5):
            seen.append(beams.costs()[0].tolist())
            beams.go(beams.random_move(3, source))
        return seen

    first, second = after(moves[0], 0), after(moves[1], 1)
    assert first != second
    assert after(moves[0], 0) == first
