"""Calibration: do confidences match the share of right answers?"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Bin(NamedTuple):
    """Answers of about equal confidence, and how many of them are right."""

    confidence: float
    """Their mean confidence; 0 if there are none."""
    correct: float
    """The share that is right; 0 if there are none."""
    size: int
    """The number of answers."""


def calibration_bins(
    confidence: Float[Tensor, " n"], correct: Bool[Tensor, " n"], bins: int = 10
) -> list[Bin]:
    """Confidences in `bins` bins of equal width, from the lowest to the highest.

    >>> correct = torch.tensor([True, True, True, False])
    >>> calibration_bins(torch.tensor([0.75, 0.75, 1.0, 1.0]), correct, bins=2)[1]
    Bin(confidence=0.875, correct=0.75, size=4)
    """
    places = _places(confidence, bins)
    counts = torch.bincount(places, minlength=bins).tolist()
    sums = (_sums(values.double(), places, bins).tolist() for values in (confidence, correct))
    return [
        Bin(sure / max(n, 1), right / max(n, 1), n)
        for sure, right, n in zip(*sums, counts, strict=True)
    ]


def calibration_error(
    confidence: Float[Tensor, " n"], correct: Bool[Tensor, " n"], bins: int = 10
) -> float:
    """The expected calibration error: |confidence - accuracy|, averaged over bins by their size.

    Sum over bins B of  |B| / n * |mean confidence in B - share of correct in B|,  in `bins`
    bins of equal width.

    >>> correct = torch.tensor([True, True, True, False])
    >>> round(calibration_error(torch.tensor([0.75, 0.75, 1.0, 1.0]), correct), 3)
    0.375
    """
    if len(confidence) == 0:
        return 0.0
    excess = confidence.double() - correct.double()
    gaps = _sums(excess, _places(confidence, bins), bins)
    return float(gaps.abs().sum()) / len(confidence)


def _places(confidence: Float[Tensor, " n"], bins: int) -> Int[Tensor, " n"]:
    """The bin of each confidence."""
    return (confidence * bins).long().clamp(max=bins - 1).cpu()


def _sums(
    values: Float[Tensor, " n"], places: Int[Tensor, " n"], bins: int
) -> Float[Tensor, " bins"]:
    """The sum of each bin."""
    return torch.zeros(bins, dtype=torch.float64).index_add(0, places, values.cpu())
