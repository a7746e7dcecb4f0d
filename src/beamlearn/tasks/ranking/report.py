"""How good a ranker is, at one beam width."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ...evaluation.calibration import calibration_error
from ...evaluation.error_profile import NO_NUMBERS, ErrorProfile
from ...evaluation.evaluate import Evaluation
from ...evaluation.ranking_metrics import ranking_metrics
from ...search.beam_search import SearchResult
from ..decoding import decoded, in_order
from .decode import RankedIds, ranked, read_lists
from .model import Ranker
from .positions import RankingExample

CUTS = (5, 10)
"""How many items of a list count."""


@dataclass(frozen=True)
class RankingReport:
    """The results of `evaluate`; a list has the right item if it has its id."""

    width: int
    recall_at_5: float
    recall_at_10: float
    """The share of users whose next item is among the first ten."""
    ndcg_at_5: float
    ndcg_at_10: float
    """The mean of 1 / log2(rank + 1), where the rank is at most ten."""
    mrr: float
    """The mean of 1 / rank, in the list that the beam leaves."""
    cost: float
    """The share of users whose next item is not on top."""
    increases_per_example: float
    """Cost increases per user: how often the beam lost the right item."""
    search_error_rate: float
    """Of the users with a wrong item on top, the share where the model prefers the right one."""
    calibration_error: float
    """The expected calibration error of the best item's share of the final beam."""
    users_per_second: float
    profile: ErrorProfile = field(compare=False, repr=False)
    """Where errors happen; not part of `to_json`."""
    evaluation: Evaluation = field(compare=False, repr=False)
    """User by user, in the order of the data; not part of `to_json`."""

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        return {name: value for name, value in vars(self).items() if name not in NO_NUMBERS}


def report(
    ranker: Ranker, examples: Sequence[RankingExample], width: int = 20, *, batch_size: int = 256
) -> RankingReport:
    """Search with a beam of `width` and compare the lists with the right items."""

    def read(_: Sequence[RankingExample], result: SearchResult) -> list[RankedIds]:
        return read_lists(ranker, result)

    decodings = decoded(ranker, examples, width, batch_size, read)
    costs = decodings.evaluation
    sure = torch.tensor([one.shares[0] for one in decodings.answers])
    right = costs.costs == 0
    return RankingReport(
        width=width,
        **list_metrics(ranker, examples, decodings.answers),
        cost=costs.cost,
        increases_per_example=costs.increases_per_example,
        search_error_rate=costs.search_error_rate,
        calibration_error=calibration_error(sure, right),
        users_per_second=len(examples) / decodings.seconds,
        profile=ErrorProfile.of(width, costs, sure, right),
        evaluation=costs,
    )


def validated_lists(
    ranker: Ranker, examples: Sequence[RankingExample], width: int
) -> Mapping[str, float]:
    """The numbers of lists alone, which take less time than a report."""
    return list_metrics(ranker, examples, in_order(ranked(ranker, examples, width)))


def list_metrics(
    ranker: Ranker, examples: Sequence[RankingExample], lists: Sequence[RankedIds]
) -> dict[str, float]:
    """Recall and NDCG at each cut, and the mean reciprocal rank, of the ids."""
    found = [one.leaves for one in lists]
    right = ranker.index.leaves[[one.items[-1] for one in examples]].tolist()
    cut = {k: ranking_metrics(found, right, k) for k in CUTS}
    return {
        **{f"recall_at_{k}": one.recall for k, one in cut.items()},
        **{f"ndcg_at_{k}": one.ndcg for k, one in cut.items()},
        "mrr": ranking_metrics(found, right).mrr,
    }
