"""From an automaton that reads letters to one that reads whole symbols."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

SILENT = -1
"""What fills symbols up to the longest."""


def spelled(
    table: Int[Tensor, "states letters"],
    accepting: Sequence[int],
    numbers: Mapping[str, int],
    symbols: Sequence[str],
    first: Sequence[str] | None = None,
) -> tuple[Int[Tensor, "more symbols"], list[int]]:
    """The table of symbols, and its accepting states.

    Where symbols have other texts at first, a state is added that only the beginning is in.
    """
    states = torch.arange(len(table))
    later = followed(table, _lettered(numbers, symbols), states)
    if first is None:
        return later, [*accepting]
    opening = followed(table, _lettered(numbers, first), states[:1])
    shifted = torch.cat([opening, later]) + 1
    begin = [0] if 0 in accepting else []
    return shifted.masked_fill(shifted == 0, -1), [*begin, *(state + 1 for state in accepting)]


def followed(
    table: Int[Tensor, "states letters"],
    letters: Int[Tensor, "symbols longest"],
    begin: Int[Tensor, " some"],
) -> Int[Tensor, "some symbols"]:
    """The state after all letters of each symbol; -1 where they lead nowhere, or there are none.

    All symbols are followed at once, those that have a next letter one letter on.
    """
    dead = len(table)
    step = torch.cat([table, table.new_full((1, table.shape[1]), -1)])
    step = step.masked_fill(step < 0, dead)
    after = begin[:, None].repeat(1, len(letters))
    after[:, letters[:, 0] == SILENT] = dead
    for column in letters.unbind(dim=1):
        (going,) = (column != SILENT).nonzero(as_tuple=True)
        after[:, going] = step[after[:, going], column[going]]
    return after.masked_fill(after == dead, -1)


def _lettered(numbers: Mapping[str, int], symbols: Sequence[str]) -> Int[Tensor, "symbols longest"]:
    """The letters of each symbol in numbers; at least one column."""
    rows = [torch.tensor([numbers[letter] for letter in symbol] or [SILENT]) for symbol in symbols]
    return pad_sequence(rows, batch_first=True, padding_value=SILENT)
