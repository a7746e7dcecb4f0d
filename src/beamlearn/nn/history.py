"""A recurrent memory of what each hypothesis of a beam has done."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..search.neighbors import Move

Cell = Literal["lstm", "gru"]


@dataclass(frozen=True)
class RecurrentState:
    """The state of every hypothesis, and what actions look like to the cell."""

    hidden: Float[Tensor, "batch k size"]
    cell: Float[Tensor, "batch k size"] | None
    """The second state of an LSTM."""
    actions: Float[Tensor, "actions gates"]
    """W x + b for every action x, once per search."""


class ActionRNN(nn.Module):
    """An LSTM or GRU over the actions of each hypothesis.

    Two things make it cheap beside a cell that is run on every slot: the input half of the
    gates is a table with one row per action, and the recurrent half is computed once for every
    hypothesis with descendants; a beam has fewer of them than slots.
    """

    def __init__(self, actions: int, size: int, embedding: int, kind: Cell = "lstm") -> None:
        super().__init__()
        self.size, self.kind = size, kind
        gates = {"lstm": 4, "gru": 3}[kind] * size
        self.embedding = nn.Embedding(actions, embedding)
        self.input = nn.Linear(embedding, gates)
        self.recurrent = nn.Linear(size, gates)
        bound = size**-0.5
        for parameter in (*self.input.parameters(), *self.recurrent.parameters()):
            nn.init.uniform_(parameter, -bound, bound)

    def start(self, batch: int) -> RecurrentState:
        """Nothing done yet, in one slot per example."""
        hidden = self.input.weight.new_zeros(batch, 1, self.size)
        table = self.input(self.embedding.weight)
        return RecurrentState(hidden, hidden if self.kind == "lstm" else None, table)

    def advance(self, before: RecurrentState, move: Move) -> RecurrentState:
        """Read the action that each slot takes."""
        parents, child_of = _parents(move, before.hidden.shape[1])
        hidden = before.hidden.flatten(0, 1).index_select(0, parents)
        recurrent = self.recurrent(hidden).index_select(0, child_of)
        given = before.actions.index_select(0, move.actions.flatten())
        shape = (*move.actions.shape, self.size)
        if before.cell is None:
            hidden = _gru(given, recurrent, hidden.index_select(0, child_of))
            return replace(before, hidden=hidden.view(shape))
        cell = before.cell.flatten(0, 1).index_select(0, parents[child_of])
        hidden, cell = lstm_step(given + recurrent, cell)
        return replace(before, hidden=hidden.view(shape), cell=cell.view(shape))

    def along(
        self, before: RecurrentState, actions: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n_and_1 size"]:
        """What one hypothesis per example remembers before its first action and after each.

        One pass of a fused layer; up to rounding, what `advance` finds step by step.
        """
        if actions.shape[1] == 0:
            return before.hidden
        layers = (self.input, self.recurrent)
        parameters = [p for part in ("weight", "bias") for p in (getattr(m, part) for m in layers)]
        read, hidden = self.embedding(actions), before.hidden.transpose(0, 1)
        fused = (parameters, True, 1, 0.0, self.training, False, True)
        if before.cell is None:
            found, _ = torch.gru(read, hidden, *fused)
        else:
            parameters[:] = [_cell_before_output(p) for p in parameters]
            state = [hidden, before.cell.transpose(0, 1)]
            found, _, _ = torch.lstm(read, state, *fused)
        return torch.cat([before.hidden, found], dim=1)


def _cell_before_output(gates: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The gates i, f, o, g in the order of torch: i, f, g, o."""
    first, second, output, cell = gates.chunk(4)
    return torch.cat([first, second, cell, output])


def _parents(move: Move, slots: int) -> tuple[Int[Tensor, " parents"], Int[Tensor, " children"]]:
    """The hypotheses that have descendants, by flat index, and whose child each slot is."""
    index = move.parents(slots).flatten()
    if move.slots.shape[1] == 1:
        return index, torch.arange(len(index), device=index.device)
    parents, child_of = torch.unique(index, return_inverse=True)
    return parents, child_of


def lstm_step(
    gates: Float[Tensor, "*shape gates"], cell: Float[Tensor, "*shape size"]
) -> tuple[Float[Tensor, "*shape size"], Float[Tensor, "*shape size"]]:
    """c' = sigmoid(f) c + sigmoid(i) tanh(g);  h' = sigmoid(o) tanh(c')."""
    size = cell.shape[-1]
    i, f, o = gates[..., : 3 * size].sigmoid().chunk(3, dim=-1)
    cell = f * cell + i * gates[..., 3 * size :].tanh()
    return o * cell.tanh(), cell


def _gru(given: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """h' = (1 - z) tanh(n_given + r n_recurrent) + z h, with r and z from sigmoids."""
    size = hidden.shape[-1]
    r, z = (given[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid().chunk(2, dim=-1)
    new = (given[:, 2 * size :] + r * recurrent[:, 2 * size :]).tanh()
    return new + z * (hidden - new)
