"""From an automaton that reads letters to one that reads whole symbols."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

SILENT = -1
"""What fills symbols up to the longest."""


def spelled(
    table: Int[Tensor, "states letters"], numbers: Mapping[str, int], symbols: Sequence[str]
) -> Int[Tensor, "states symbols"]:
    """The state after all letters of each symbol; -1 where they lead nowhere, or there are none.

    All symbols are followed at once from all states, those that have a next letter one letter on.
    """
    dead = len(table)
    step = torch.cat([table, table.new_full((1, table.shape[1]), -1)])
    step = step.masked_fill(step < 0, dead)
    letters = _lettered(numbers, symbols)
    after = torch.arange(dead)[:, None].repeat(1, len(symbols))
    after[:, letters[:, 0] == SILENT] = dead
    for column in letters.unbind(dim=1):
        (going,) = (column != SILENT).nonzero(as_tuple=True)
        after[:, going] = step[after[:, going], column[going]]
    return after.masked_fill(after == dead, -1)


def _lettered(numbers: Mapping[str, int], symbols: Sequence[str]) -> Int[Tensor, "symbols longest"]:
    """The letters of each symbol in numbers; at least one column."""
    rows = [torch.tensor([numbers[letter] for letter in symbol] or [SILENT]) for symbol in symbols]
    return pad_sequence(rows, batch_first=True, padding_value=SILENT)
