"""Costs of whole outputs by any function of texts."""

from collections.abc import Callable
from math import isfinite

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

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
    for example, several in enumerate(references):
        first, *others = (_text(tokenizer, ids) for ids in several)
        right = [first, *(text for ids, text in zip(several[1:], others, strict=True) if _any(ids))]
        for slot in there[example].nonzero()[:, 0].tolist():
            output = _text(tokenizer, outputs[example, slot])
            found[example, slot] = min(_cost(cost, output, text, example) for text in right)
    return found.to(outputs.device)


def _text(tokenizer: PreTrainedTokenizerBase, ids: Int[Tensor, " length"]) -> str:
    text = tokenizer.decode(ids[ids >= 0].tolist(), skip_special_tokens=True)
    return str(text)


def _any(ids: Int[Tensor, " length"]) -> bool:
    return bool((ids >= 0).any())


def _cost(cost: StringCost, output: str, reference: str, example: int) -> float:
    where = f"example {example} of the batch, output {output!r:.80}, reference {reference!r:.80}"
    try:
        value = float(cost(output, reference))
    except Exception as error:
        raise ValueError(f"`cost` failed ({type(error).__name__}: {error}) at {where}.") from error
    if not isfinite(value):
        raise ValueError(f"`cost` must return a finite number, got {value} at {where}.")
    return value
