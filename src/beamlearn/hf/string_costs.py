"""Costs of whole outputs by any function of texts."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from ..search.output_cost import checked_cost

StringCost = Callable[[str, str], float]
"""What an output costs by one reference, both as text."""


def string_costs(
    cost: StringCost,
    tokenizer: PreTrainedTokenizerBase,
    outputs: Int[Tensor, "batch k length"],
    there: Bool[Tensor, "batch k"],
    references: Int[Tensor, "batch refs length2"],
) -> Float[Tensor, "batch k"]:
    """The cost of each output by its nearest reference; 0 where there is no output.

    Ids below 0 fill up. A function that fails, or returns what is no finite number, is reported
    with the texts that it was given.
    """
    found = torch.zeros(outputs.shape[:2])
    for example, slot in there.nonzero().tolist():
        ids = outputs[example, slot].tolist()
        found[example, slot] = output_cost(cost, tokenizer, references, example, ids)
    return found.to(outputs.device)


def output_cost(
    cost: StringCost,
    tokenizer: PreTrainedTokenizerBase,
    references: Int[Tensor, "batch refs length"],
    example: int,
    output: list[int],
) -> float:
    """The cost of one output by its nearest reference."""
    text, (first, *others) = _text(tokenizer, output), references[example].tolist()
    right = [first, *(ids for ids in others if max(ids) >= 0)]
    return min(_cost(cost, text, _text(tokenizer, ids), example) for ids in right)


def _text(tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> str:
    return str(tokenizer.decode([token for token in ids if token >= 0], skip_special_tokens=True))


def _cost(cost: StringCost, output: str, reference: str, example: int) -> float:
    where = f"at example {example} of the batch, output {output!r:.80}, reference {reference!r:.80}"
    return checked_cost(cost, output, reference, where)
