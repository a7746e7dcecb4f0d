import random

import torch
from trees import random_projective_tree, space_of, with_relations

from beamlearn.search.neighbors import Move
from beamlearn.tasks.parsing.arc_hybrid import LEFT, RIGHT, SHIFT, ArcHybrid
from beamlearn.tasks.parsing.stack import Stacked
from beamlearn.tasks.parsing.system import NONE

SYSTEM = ArcHybrid()


def step(nodes, slots, kinds, rows=None):
    slots, kinds = torch.tensor(slots), torch.tensor(kinds)
    idle = torch.zeros_like(slots, dtype=torch.bool)
    rows = None if rows is None else torch.tensor(rows)
    return SYSTEM.advance(nodes, Move(rows, slots, kinds, idle, idle), kinds)


def words_of(nodes, row, slot):
    """The whole stack of a hypothesis, from the top down."""
    fields = nodes.fields[row, slot]
    place, word = int(fields[0]), int(fields[1])
    found = []
    while word != NONE:
        found.append(word)
        below = nodes.pool.below[nodes.examples[row], place]
        place, word = int(below[0]), int(below[1])
    return found


def test_hypotheses_share_what_was_one():
    nodes = Stacked.initial(torch.tensor([6]))
    for _ in range(4):
        nodes = step(nodes, [[0]], [[SHIFT]])
    nodes = step(nodes, [[0, 0, 0]], [[SHIFT, LEFT, RIGHT]])
    assert [words_of(nodes, 0, slot) for slot in range(3)] == [
        [5, 4, 3, 2, 1],
        [3, 2, 1],
        [3, 2, 1],
    ]
    nodes = step(nodes, [[2, 0]], [[RIGHT, RIGHT]])
    assert [words_of(nodes, 0, slot) for slot in range(2)] == [[2, 1], [4, 3, 2, 1]]
    assert nodes.visible[0].tolist() == [[NONE, 1, 2, 5], [2, 3, 4, 6]]


def test_random_walks_keep_the_stacks_that_lists_would():
    rng = random.Random(0)
    lengths = [12, 9, 15]
    nodes = Stacked.initial(torch.tensor(lengths))
    lists = [[([], 1)] for _ in lengths]
    for _ in range(17):
        legal = SYSTEM.legal(nodes).tolist()
        slots, kinds, after = [], [], []
        for row, hypotheses in enumerate(lists):
            chosen = [rng.randrange(len(hypotheses)) for _ in range(4)]
            taken = [rng.choice([k for k in range(3) if legal[row][slot][k]]) for slot in chosen]
            slots.append(chosen)
            kinds.append(taken)
            after.append(
                [apply(*hypotheses[s], kind) for s, kind in zip(chosen, taken, strict=True)]
            )
        nodes, lists = step(nodes, slots, kinds), after
        for row, hypotheses in enumerate(lists):
            for slot, (stack, front) in enumerate(hypotheses):
                assert words_of(nodes, row, slot) == stack[::-1]
                assert int(nodes.front[row, slot]) == front


def apply(stack, front, kind):
    return ([*stack, front], front + 1) if kind == SHIFT else (stack[:-1], front)


def test_two_futures_of_one_past_do_not_disturb_each_other():
    nodes = Stacked.initial(torch.tensor([4]))
    nodes = step(nodes, [[0]], [[SHIFT]])
    one = step(nodes, [[0]], [[SHIFT]])
    other = step(step(nodes, [[0]], [[LEFT]]), [[0]], [[SHIFT]])
    one = step(one, [[0]], [[SHIFT]])
    assert words_of(one, 0, 0) == [3, 2, 1]
    assert words_of(other, 0, 0) == [2]


def test_rows_that_end_leave():
    nodes = step(Stacked.initial(torch.tensor([1, 3])), [[0], [0]], [[SHIFT], [SHIFT]])
    nodes = step(nodes, [[0]], [[SHIFT]], rows=[1])
    assert nodes.examples.tolist() == [1]
    assert words_of(nodes, 0, 0) == [2, 1]


def test_the_pool_grows_with_words_times_slots():
    rng = random.Random(0)
    space = space_of(SYSTEM, [with_relations(random_projective_tree(40, rng), rng)])
    nodes = space.initial()
    for _ in range(79):
        slots = nodes.fields.shape[1]
        kinds = SYSTEM.legal(nodes)[..., :3].long().argmax(dim=-1)[:, [0] * 4].clamp(max=2)
        nodes = step(nodes, [[0] * 4], kinds.tolist())
        assert nodes.used <= 1 + 79 * 4
        assert slots <= 4
    assert nodes.pool.below.shape[1] <= 2 * (1 + 79 * 4)
