"""Batches of examples that are about equally long."""

from collections.abc import Sequence
from typing import Any

import torch

POOL = 50
"""How many batches are drawn together and then sorted by length."""


def batches_of(
    examples: Sequence[Any], size: int, generator: torch.Generator | None = None
) -> list[list[Any]]:
    """Cut examples into batches of similar lengths; in random order if there is a generator.

    Sorting by length is what makes lockstep pay: no batch waits for one long example.

    >>> [len(batch) for batch in batches_of(["a", "bbb", "cc", "d", "ee"], size=2)]
    [2, 2, 1]
    """
    order = list(range(len(examples)))
    pool = len(order)
    if generator is not None:
        order, pool = torch.randperm(len(order), generator=generator).tolist(), POOL * size
    batches = []
    for start in range(0, len(order), max(1, pool)):
        near = sorted(order[start : start + pool], key=lambda i: len(examples[i]))
        batches += [near[place : place + size] for place in range(0, len(near), size)]
    if generator is not None:
        batches = [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]
    return [[examples[i] for i in batch] for batch in batches]
