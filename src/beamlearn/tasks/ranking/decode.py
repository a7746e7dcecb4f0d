"""Rank items: lists of ids and of items, best first."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from ...search.beam_search import SearchResult
from ..decoding import searched
from ..footprint import NUMBER, footprint
from .model import Ranker
from .positions import RankingExample


@dataclass(frozen=True)
class RankedIds:
    """What a ranker says comes next: ids by their nodes, best first."""

    leaves: tuple[int, ...]
    scores: tuple[float, ...]
    shares: tuple[float, ...]
    """Of the final beam."""


@dataclass(frozen=True)
class RankedItem:
    """One item of a list."""

    item: str
    score: float
    probability: float
    """The share of the final beam that its id has."""


def ranked(
    ranker: Ranker,
    examples: Iterable[RankingExample],
    width: int,
    *,
    batch_size: int = 256,
    numbers: Iterable[int] | None = None,
) -> Iterator[tuple[int, RankedIds]]:
    """Yield the number and the list of every history, batch by batch, short ones first."""
    for places, _, result in searched(ranker, examples, width, 1, batch_size, numbers):
        yield from zip(places, read_lists(ranker, result), strict=True)


def needed(ranker: Ranker, example: RankingExample, width: int) -> int:
    """About how many bytes it takes to rank the next items of a history.

    Every hypothesis has a state, its gates, and a score for each token at a position.
    """
    size, steps = ranker.settings.size, ranker.ids.length
    scored = width * (8 * size + 4 * max(map(len, ranker.ids.names)))
    return footprint(len(example), 16 * size, steps, width) + NUMBER * scored


def read_lists(ranker: Ranker, result: SearchResult) -> list[RankedIds]:
    """Read the lists off a search, for all its examples at once."""
    leaves = ranker.index.trie.descend(result.trace.final_actions)
    scores = result.nbest_scores.double().masked_fill(~result.nbest_mask, -torch.inf)
    fields = (leaves, scores, scores.softmax(dim=-1))
    counts = result.nbest_mask.sum(dim=-1).tolist()
    return [
        RankedIds(*(tuple(row[:count]) for row in rows))
        for count, *rows in zip(counts, *(field.tolist() for field in fields), strict=True)
    ]


def items_of(ranker: Ranker, found: RankedIds, nbest: int) -> list[RankedItem]:
    """The first items of a list; those that share an id come in the order of the catalogue."""
    listed: Sequence[list[int]] = ranker.index.items_at(torch.tensor(found.leaves))
    rows = zip(listed, found.scores, found.shares, strict=True)
    all_items = (
        RankedItem(ranker.ids.items[item], score, share)
        for items, score, share in rows
        for item in items
    )
    return [one for one, _ in zip(all_items, range(nbest), strict=False)]
