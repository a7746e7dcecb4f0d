"""Do confidences mean what they say?"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


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
    place = (confidence * bins).long().clamp(max=bins - 1)
    excess = confidence.double() - correct.double()
    gaps = torch.zeros(bins, dtype=torch.float64).index_add(0, place.cpu(), excess.cpu())
    return float(gaps.abs().sum()) / len(confidence)
