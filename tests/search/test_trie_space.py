"""A space over a catalogue: its costs are those of all items, and its searches find them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.check import UsageError

END = 9
IDS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple), min_size=1, max_size=9
)


class TokenScorer(bl.Scorer):
    """A number for each token at each depth, and one for the token before it."""

    normalize = "log_softmax"

    def __init__(self, seed=0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.table = torch.nn.Parameter(torch.randn(5, 10, 10, generator=generator))

    def start(self, space):
        return None

    def score(self, memory, nodes):
        before = nodes.tokens if nodes.depth else torch.zeros_like(nodes.numbers)
        return self.table[nodes.depth, before[..., None], nodes.children.tokens]

    def advance(self, memory, nodes, move):
        return None


@st.composite
def cases(draw):
    ids = draw(IDS)
    items = st.integers(0, len(ids) - 1)
    worth = st.sampled_from([0.25, 0.5, 1.0, 2.0])
    targets = draw(
        st.lists(
            items | st.lists(items, min_size=1) | st.dictionaries(items, worth, min_size=1),
            min_size=1,
            max_size=3,
        )
    )
    return ids, targets


def space_of(ids, targets):
    return bl.TrieSpace(bl.ItemIndex(ids, end=END), targets)


def relevance_of(targets):
    if isinstance(targets, int):
        return {targets: 1.0}
    return targets if isinstance(targets, dict) else dict.fromkeys(targets, 1.0)


def least_cost(ids, targets, prefix):
    """c* by enumeration: what the most relevant item below a prefix misses."""
    relevance = relevance_of(targets)
    below = [i for i, one in enumerate(ids) if (*one, END)[: len(prefix)] == prefix]
    return max(relevance.values()) - max(relevance.get(i, 0.0) for i in below)


@given(cases())
def test_costs_are_those_of_all_items_below(case):
    (ids, targets), space = case, space_of(*case)
    oracle, nodes = space.oracle(), space.initial()
    assert oracle.initial().tolist() == [0.0] * len(targets)
    children = nodes.children
    costs = oracle.costs(oracle.start(), nodes)
    for example, one in enumerate(targets):
        for child, cost in zip(children.nodes[example, 0], costs[example, 0], strict=True):
            prefix = space.index.trie.prefix(int(child))
            assert float(cost) == least_cost(ids, one, prefix)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_the_oracle_is_exact(case):
    assert bl.check_oracle(space_of(*case)).ok


@settings(max_examples=40, deadline=None)
@given(cases())
def test_a_wide_beam_lists_every_id_once_with_its_probability(case):
    ids, result = case[0], bl.beam_search(space_of(*case), TokenScorer(), width=50)
    for found in result.nbest:
        assert sorted(one.output for one in found) == sorted({(*one, END) for one in ids})
        total = sum(torch.tensor([one.score for one in found]).exp())
        assert float(total) == pytest.approx(1.0, abs=1e-5)


def test_outputs_names_and_costs():
    index = bl.ItemIndex([(0, 1), (0, 2), (3, 1), (0, 1)])
    space = bl.TrieSpace(index, [{3: 0.5, 2: 2.0}], names=["abcd", "xyz"])
    assert space.outputs([0, 0], [[0, 1], [1]]) == [(0, 2), (3,)]
    assert space.action_name(0, [1]) == "d"
    assert space.action_name(0, [0, 1]) == "z"
    assert bl.TrieSpace(index, [1]).action_name(0, [1]) == "3"
    assert [space.cost(0, one) for one in ((0, 1), (0, 2), (3, 1))] == [1.5, 2.0, 0.0]


def test_there_are_as_many_actions_as_children():
    index = bl.ItemIndex([(0, 1), (1, 1), (2, 1), (2, 2)])
    space = bl.TrieSpace(index, [0])
    assert space.expand(space.initial()).actions == 3
    steps = bl.beam_trajectory(space, TokenScorer(), width=3).transitions
    assert [one.neighbors.actions for one in steps] == [3, 2]


def test_a_complete_id_stays_while_others_go_on():
    """In the last node of all, which has nothing after it."""
    space = bl.TrieSpace(bl.ItemIndex([(1,), (0, 0), (0, 1, 2)]), [0])
    found = bl.beam_search(space, TokenScorer(), width=3)
    assert sorted(one.output for one in found.nbest[0]) == [(0, 0), (0, 1, 2), (1,)]
    last = bl.TrieSpace(bl.ItemIndex([(0, 0, 0), (0, 1), (1, 0)]), [0])
    assert len(bl.beam_search(last, TokenScorer(), width=3).nbest[0]) == 3


def test_slots_without_a_hypothesis_have_tokens_of_no_other_depth():
    """There are more slots than nodes at the second depth, where only tokens 0 and 1 exist."""
    ids = [(7, 0, 0), (8, 0, 1), (8, 1, 0), (9, 1, 1)]
    space, seen = bl.TrieSpace(bl.ItemIndex(ids), [0, 3]), []

    class Watching(TokenScorer):
        def score(self, memory, nodes):
            seen.append(int(nodes.children.tokens.max()))
            return super().score(memory, nodes)

    found = bl.beam_search(space, Watching(), width=50)
    assert seen == [9, 1, 1]
    assert sorted(one.output for one in found.nbest[0]) == ids


@pytest.mark.parametrize("width", [1, 3])
def test_training_finds_what_it_was_taught(width):
    ids = [(a, b, c) for a in range(3) for b in range(3) for c in range(2)]
    index, scorer = bl.ItemIndex(ids), TokenScorer()

    class Task:
        def space(self, batch):
            return bl.TrieSpace(index, batch)

    optimizer = torch.optim.Adam(scorer.parameters(), lr=0.3)
    list(bl.learn([[11]] * 30, Task(), scorer, optimizer, loss="log_loss_neighbors", width=width))
    assert bl.beam_search(Task().space([11]), scorer, width).outputs == [ids[11]]


def test_the_batch_law():
    ids = [(a, b) for a in range(4) for b in range(a + 1)]
    index, scorer = bl.ItemIndex(ids), TokenScorer()
    whole = bl.evaluate([[0, 5, 9]], Batch(index), scorer, width=2)
    alone = [bl.evaluate([[one]], Batch(index), scorer, width=2) for one in (0, 5, 9)]
    assert whole.costs.tolist() == [float(one.costs) for one in alone]


class Batch:
    def __init__(self, index):
        self.index = index

    def space(self, targets):
        return bl.TrieSpace(self.index, targets)


def test_a_beam_of_500():
    ids = [(a, b, c) for a in range(10) for b in range(10) for c in range(10)]
    space = bl.TrieSpace(bl.ItemIndex(ids), [7, [3, 999]])
    result = bl.beam_search(space, TokenScorer(), width=500)
    assert result.nbest_scores.shape == (2, 500)
    exact = bl.beam_search(space, TokenScorer(), width=1000)
    assert torch.equal(result.nbest_scores[:, :5], exact.nbest_scores[:, :5])


def test_without_targets_there_are_searches_but_no_costs():
    space = bl.TrieSpace(bl.ItemIndex([(0,), (1,)]), [1, ()])
    assert len(bl.beam_search(space, TokenScorer(), 2).nbest) == 2
    with pytest.raises(UsageError, match="example 1 has none"):
        space.oracle()


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (2, "example 1 must be items from 0 to 1, got 2"),
        ([0, -1], "example 1 must be items from 0 to 1, got -1"),
        ({0: 0.0}, "must be above 0, got 0.0 for item 0 of example 1"),
        ({0: float("nan")}, "must be above 0, got nan"),
    ],
)
def test_wrong_targets_are_refused(targets, message):
    with pytest.raises(UsageError, match=message):
        bl.TrieSpace(bl.ItemIndex([(0,), (1,)]), [0, targets])
