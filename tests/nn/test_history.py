import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call

from beamlearn.nn.history import ActionRNN
from beamlearn.search.neighbors import Move

ACTIONS, SIZE, EMBEDDING = 5, 3, 2


@st.composite
def moves(draw, width=4):
    """The number of rows, then steps whose slots share parents, change in number, and leave."""
    random = draw(st.randoms(use_true_random=False))
    batch, steps = random.randint(1, 4), []
    rows, slots = batch, 1
    for _ in range(random.randint(1, 4)):
        after = random.randint(1, width)
        kept = sorted(random.sample(range(rows), random.randint(1, rows)))
        if len(kept) == rows and random.random() < 0.5:
            kept = None
        rows = rows if kept is None else len(kept)
        parents = [[random.randrange(slots) for _ in range(after)] for _ in range(rows)]
        actions = [[random.randrange(ACTIONS) for _ in range(after)] for _ in range(rows)]
        steps.append((kept, parents, actions))
        slots = after
    return batch, steps


def as_move(kept, slots, actions):
    slots = torch.tensor(slots)
    none = torch.zeros_like(slots, dtype=torch.bool)
    rows = None if kept is None else torch.tensor(kept)
    return Move(rows, slots, torch.tensor(actions), none, none)


def history_of(kind):
    torch.manual_seed(0)
    return ActionRNN(ACTIONS, SIZE, EMBEDDING, kind).double()


def cell_of(history):
    """The cell of PyTorch with the weights of a history; LSTM gates are i f g o there."""
    kind = {"lstm": nn.LSTMCell, "gru": nn.GRUCell}[history.kind]
    cell, order = kind(EMBEDDING, SIZE).double(), torch.arange(history.input.out_features)
    if history.kind == "lstm":
        order = order.view(4, SIZE)[[0, 1, 3, 2]].flatten()
    weights = {
        "weight_ih": history.input.weight[order],
        "bias_ih": history.input.bias[order],
        "weight_hh": history.recurrent.weight[order],
        "bias_hh": history.recurrent.bias[order],
    }
    return lambda x, state: functional_call(cell, weights, (x[None], state))


def one_by_one(history, batch, steps):
    """Run the cell for every slot, and list the states of the last beams."""
    cell, zero = cell_of(history), torch.zeros(1, SIZE, dtype=torch.float64)
    beams = [[(zero, zero) if history.kind == "lstm" else zero] for _ in range(batch)]
    for kept, slots, actions in steps:
        beams = beams if kept is None else [beams[row] for row in kept]
        beams = [
            [
                cell(history.embedding.weight[action], beam[slot])
                for slot, action in zip(*row, strict=True)
            ]
            for beam, *row in zip(beams, slots, actions, strict=True)
        ]
    if history.kind == "gru":
        return torch.stack([torch.cat(beam) for beam in beams]), None
    both = [[torch.cat(states) for states in zip(*beam, strict=True)] for beam in beams]
    return tuple(map(torch.stack, zip(*both, strict=True)))


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@given(moves())
def test_states_and_gradients_are_those_of_a_cell_per_slot(kind, case):
    batch, steps = case
    history = history_of(kind)
    recalled = history.start(batch)
    for step in steps:
        recalled = history.advance(recalled, as_move(*step))
    hidden, cell = one_by_one(history, batch, steps)
    torch.testing.assert_close(recalled.hidden, hidden)
    value, expected = recalled.hidden, hidden
    if kind == "lstm":
        torch.testing.assert_close(recalled.cell, cell)
        value, expected = value + 2 * recalled.cell, expected + 2 * cell
    else:
        assert recalled.cell is None
    weight = torch.randn(value.shape, generator=torch.Generator().manual_seed(1))
    parameters = list(history.parameters())
    assert len(parameters) == 5
    ours = torch.autograd.grad((weight * value).sum(), parameters)
    theirs = torch.autograd.grad((weight * expected).sum(), parameters)
    for one, two in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, two)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_greedy_search_follows_one_slot(kind):
    history = history_of(kind)
    steps = [(None, [[0], [0]], [[1], [2]]), ([1], [[0]], [[4]]), (None, [[0]], [[0]])]
    recalled = history.start(2)
    for step in steps:
        recalled = history.advance(recalled, as_move(*step))
    torch.testing.assert_close(recalled.hidden, one_by_one(history, 2, steps)[0])


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_equal_parents_and_actions_make_equal_children(kind):
    history = history_of(kind)
    move = as_move(None, [[0, 0, 0], [0, 0, 0]], [[1, 1, 2], [1, 2, 1]])
    hidden = history.advance(history.start(2), move).hidden
    assert torch.equal(hidden[0, 0], hidden[0, 1])
    assert torch.equal(hidden[0, 0], hidden[1, 2])
    assert not torch.equal(hidden[0, 0], hidden[0, 2])
