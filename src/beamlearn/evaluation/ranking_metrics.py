"""How good rankings are: recall, NDCG and reciprocal rank, by the book."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..check import UsageError, check_width

Relevant = Hashable | Sequence[Hashable] | Mapping[Any, float]
"""The right items of a list: one, several that are equally good, or each with its relevance."""


@dataclass(frozen=True)
class RankingMetrics:
    """The numbers of every list; their means are those that people report."""

    recalls: Float[Tensor, " lists"]
    """The share of the relevant items that are on the list."""
    ndcgs: Float[Tensor, " lists"]
    """DCG, the sum of relevance / log2(rank + 1), divided by that of the best list."""
    reciprocals: Float[Tensor, " lists"]
    """1 / the rank of the first relevant item; 0 if there is none on the list."""

    @property
    def recall(self) -> float:
        """Mean recall: with one relevant item, the share of lists that have it."""
        return float(self.recalls.mean())

    @property
    def ndcg(self) -> float:
        """Mean NDCG."""
        return float(self.ndcgs.mean())

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank."""
        return float(self.reciprocals.mean())

    def __str__(self) -> str:
        return f"recall {self.recall:.4f}, NDCG {self.ndcg:.4f}, MRR {self.mrr:.4f}"


def ranking_metrics(
    ranked: Sequence[Sequence[Hashable]], targets: Sequence[Relevant], k: int | None = None
) -> RankingMetrics:
    """Compare lists, best first, with the relevant items of each; `k` cuts the lists.

    Whatever is not among the targets has a relevance of 0, and targets that come without one have
    1. Recall and reciprocal rank count every relevance above 0 alike. Without `k`, whole lists
    count.

    >>> found = ranking_metrics([[3, 1, 2], [5, 4]], [1, {4: 1.0, 5: 0.5}], k=2)
    >>> print(found)
    recall 1.0000, NDCG 0.7453, MRR 0.7500
    """
    if k is not None:
        check_width(k, "k", "the first item alone")
    if len(ranked) != len(targets) or not ranked:
        raise UsageError(
            "`ranked` and `targets` must have equally many lists, at least one, got "
            f"{len(ranked)} and {len(targets)}."
        )
    rows = [_row(*one, k) for one in zip(range(len(ranked)), ranked, targets, strict=True)]
    return RankingMetrics(
        *(torch.tensor(row, dtype=torch.float64) for row in zip(*rows, strict=True))
    )


def _row(
    place: int, ranked: Sequence[Hashable], targets: Relevant, k: int | None
) -> tuple[float, float, float]:
    """Recall, NDCG and reciprocal rank of one list."""
    relevance, listed = _relevance(place, targets), list(ranked)[:k]
    if len(set(listed)) < len(listed):
        twice = next(one for i, one in enumerate(listed) if one in listed[:i])
        raise UsageError(f"`ranked[{place}]` must have each item once, got {twice!r} twice.")
    gains = [relevance.get(item, 0.0) for item in listed]
    hits = [rank for rank, gain in enumerate(gains, 1) if gain > 0]
    best = sorted(relevance.values(), reverse=True)[:k]
    return len(hits) / len(relevance), _dcg(gains) / _dcg(best), 1 / hits[0] if hits else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _relevance(place: int, targets: Relevant) -> dict[Any, float]:
    """The relevance of each relevant item; refuse a list that nothing is relevant for."""
    if isinstance(targets, Mapping):
        found = {item: float(worth) for item, worth in targets.items() if worth}
    elif isinstance(targets, Sequence) and not isinstance(targets, str | bytes):
        found = dict.fromkeys(targets, 1.0)
    else:
        found = {targets: 1.0}
    if not found or not all(worth > 0 for worth in found.values()):
        raise UsageError(
            f"`targets[{place}]` must have at least one relevant item, and no relevance below 0, "
            f"got {targets!r:.60}."
        )
    return found
