"""A catalogue as a constraint: the ids and nothing else."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.check import UsageError
from beamlearn.search.steps_left import StepsLeft

END = 3
IDS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple), min_size=1, max_size=6
)


def step(constraint, state, action):
    none = torch.zeros(1, 1, dtype=torch.bool)
    move = bl.Move(None, torch.zeros(1, 1, dtype=torch.long), torch.tensor([[action]]), none, none)
    return constraint.advance(state, move)


def check(constraint, outputs, most):
    """Legal and final actions after every prefix of an output, by the book."""
    outputs = {output for output in outputs if len(output) <= most}
    for prefix in {output[:n] for output in outputs for n in range(len(output))}:
        state = constraint.start(1)
        for action in prefix:
            state = step(constraint, state, action)
        left = torch.tensor([most - len(prefix)])
        legal = constraint.legal(state, StepsLeft(torch.ones_like(left), left))
        final = constraint.final(state)
        for action in range(constraint.actions):
            begun = (*prefix, action)
            longer = [o for o in outputs if len(o) > len(begun) and o[: len(begun)] == begun]
            assert bool(legal[0, 0, action]) == bool(longer)
            assert bool(final[0, 0, action]) == (begun in outputs)


@given(IDS, st.integers(1, 4))
def test_an_end_within_the_index(ids, most):
    index = bl.ItemIndex(ids, end=END)
    check(index.constraint(), {(*one, END) for one in ids}, 9)
    limited = {(*one, END) for one in ids if len(one) < most}
    for constraint in (index.constraint(), index.constraint(6, end=END)):
        check(constraint, limited, most) if limited else None


@given(st.sets(st.tuples(*[st.integers(0, 2)] * 2), min_size=1))
def test_an_end_after_the_ids_and_none(ids):
    index = bl.ItemIndex(sorted(ids))
    check(index.constraint(), ids, 2)
    check(index.constraint(5, end=4), {(*one, 4) for one in ids}, 3)


def test_it_keeps_a_search_to_the_catalogue():
    from spaces import TableScorer, TaggingSpace

    ids = [(0, 1, 2), (2, 2, 0), (1, 0, 0)]
    table = torch.randn(3, 4, 3, generator=torch.Generator().manual_seed(0))
    space = bl.ConstrainedSpace(TaggingSpace([[0, 0, 0]], 3), bl.ItemIndex(ids).constraint(3))
    found = bl.beam_search(space, TableScorer(table), 4).nbest[0]
    assert {tuple(h.output) for h in found} == {*ids}
    all_scores = bl.exhaustive_search(TaggingSpace([[0, 0, 0]], 3), TableScorer(table)).nbest[0]
    best = next(h for h in all_scores if tuple(h.output) in ids)
    assert found[0].output == best.output
    assert len(all_scores) == len([*product(range(3), repeat=3)])


def test_too_few_actions():
    with pytest.raises(UsageError, match="`actions` must be at least 6, so that all tokens are"):
        bl.ItemIndex([(5, 1)]).constraint(5)


def test_another_end_than_its_own():
    with pytest.raises(UsageError, match="`end` must be 3, with which all ids"):
        bl.ItemIndex([(1,)], end=3).constraint(end=2)
