"""Denormal numbers: too small for full precision, slow, and of no use to learning."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def flush_denormals() -> Iterator[None]:
    """Treat denormal numbers as 0 inside the context, if the processor can.

    The gradients of unlikely actions are denormal, and products of matrices full of them take
    several times as long.

    >>> with flush_denormals():
    ...     float(torch.tensor([1e-30]) * 1e-10)
    0.0
    """
    small = torch.tensor([1e-30], dtype=torch.float32, device="cpu")
    before = bool(small * 1e-10 == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
