"""GrowingTensor: a one-dimensional tensor that entries can be appended to."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class GrowingTensor:
    """A one-dimensional tensor that entries are appended to; when full, its capacity doubles."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._values = torch.zeros(64, dtype=dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def extend(self, values: Sequence[float]) -> None:
        """Add entries at the end."""
        needed = self._used + len(values)
        while needed > len(self._values):
            self._values = torch.cat([self._values, torch.zeros_like(self._values)])
        self._values[self._used : needed] = torch.tensor(values, dtype=self._values.dtype)
        self._used = needed

    def __getitem__(self, index: Any) -> Tensor:
        return self._values[: self._used][index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[: self._used][index] = value
