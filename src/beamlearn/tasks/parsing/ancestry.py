"""Which words are above which in the right trees."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .system import NONE


@dataclass(frozen=True)
class Ancestry:
    """What the right heads of a batch say about words that are further apart."""

    above: Float[Tensor, "batch words words"]
    """Ones for the head of each word, the head of that, and so on; the root may be among them."""
    tangled: Bool[Tensor, " batch"]
    """Is there no projective tree with all the right arcs?"""

    @classmethod
    def of(cls, heads: Int[Tensor, "batch words"]) -> "Ancestry":
        """Climb from all words at once."""
        above = torch.zeros(*heads.shape, heads.shape[1], device=heads.device)
        climbing = heads.clamp(min=NONE)
        for _ in range(heads.shape[1]):
            above.scatter_(2, climbing[..., None], 1.0)
            climbing = heads.gather(1, climbing).clamp(min=NONE)
            if not bool(climbing.any()):
                break
        return cls(above, _tangled(heads, above > 0))


def _tangled(
    heads: Int[Tensor, "batch words"], above: Bool[Tensor, "batch words words"]
) -> Bool[Tensor, " batch"]:
    """Do arcs cross, or pass over a word that is above them?"""
    words = torch.arange(heads.shape[1], device=heads.device)
    heads = torch.where(heads < NONE, words, heads)  # no arc
    first, last = torch.minimum(heads, words), torch.maximum(heads, words)
    start, end = first[..., None], last[..., None]
    crossing = (start < first[:, None]) & (first[:, None] < end) & (end < last[:, None])
    covered = (start < words) & (words < end)
    return (crossing | (covered & above)).flatten(1).any(dim=-1)
