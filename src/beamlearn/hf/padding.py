"""Sources as lists of token ids, padded into tensors."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

Lists = Sequence[Sequence[int]]


def as_tensors(
    input_ids: Int[Tensor, "batch symbols"] | Lists,
    attention_mask: Int[Tensor, "batch symbols"] | Lists | None,
    padding: int,
    device: torch.device,
) -> tuple[Int[Tensor, "batch symbols"], Int[Tensor, "batch symbols"] | None]:
    """Pad lists with the padding token, and mask it; tensors stay as they are."""
    if isinstance(input_ids, Tensor) and (
        attention_mask is None or isinstance(attention_mask, Tensor)
    ):
        return input_ids, attention_mask
    rows = rows_of(input_ids, "input_ids")
    seen = [[1] * len(row) for row in rows]
    if attention_mask is not None:
        seen = rows_of(attention_mask, "attention_mask")
        if [*map(len, seen)] != [*map(len, rows)]:
            raise ValueError(
                "`attention_mask` must have a number for each token of `input_ids`, got rows of "
                f"{[*map(len, seen)]} and {[*map(len, rows)]}."
            )
    return padded(rows, max(padding, 0), device), padded(seen, 0, device)


def rows_of(given: object, name: str) -> list[list[int]]:
    """Read a list of lists of whole numbers, none of them empty."""
    rows = given.tolist() if isinstance(given, Tensor) else given
    if not (
        isinstance(rows, Sequence)
        and not isinstance(rows, str)
        and rows
        and all(isinstance(row, Sequence) and row for row in rows)
        and all(type(number) is int for row in rows for number in row)
    ):
        raise ValueError(
            f"`{name}` must be a tensor of batch x tokens, or a list with a list of token ids for "
            f"each source, got {given!r:.60}; pass what a tokenizer returns for a list of texts."
        )
    return [list(row) for row in rows]


def padded(
    rows: list[list[int]], filler: int, device: torch.device
) -> Int[Tensor, "batch symbols"]:
    """One row per source, filled up to the longest."""
    tensors = [torch.tensor(row, device=device) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filler)
