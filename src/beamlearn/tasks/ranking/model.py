"""Ranker: a catalogue and a scorer, which together make spaces of histories."""

from collections.abc import Sequence
from typing import Any, final

import torch

from ...learning.iterates import Mixture
from ...search.trie_space import TrieSpace
from .item_ids import ItemIds
from .network import RecurrentRanker
from .positions import Positions, RankingExample
from .settings import RankerSettings


@final
class Ranker:
    """A ranking model; to `learn` and `evaluate` it is the task."""

    def __init__(
        self, settings: RankerSettings, ids: ItemIds, device: torch.device | str = "cpu"
    ) -> None:
        self.settings, self.ids, self.device = settings, ids, torch.device(device)
        self.index = ids.index.to(device)
        self.scorer = scorer_of(settings, ids).to(device)
        self.mixture: Mixture | None = None

    @classmethod
    def build(
        cls, settings: RankerSettings, ids: ItemIds, seed: int, device: torch.device | str
    ) -> "Ranker":
        """A new ranker of a catalogue, with random weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(settings, ids, device)

    def vocabulary(self) -> dict[str, Any]:
        """The catalogue, for vocabulary.json."""
        return self.ids.to_json()

    def encode(self, items: Sequence[str], *, every: bool = False) -> RankingExample:
        """A history in numbers, of which the last item or every one but the first is a target."""
        numbers = tuple(self.ids.numbers[item] for item in items)
        return RankingExample(numbers, range(1 if every else len(numbers) - 1, len(numbers)))

    def ahead(self, items: Sequence[str]) -> RankingExample:
        """A history in numbers, of which the next item is not known yet."""
        numbers = tuple(self.ids.numbers[item] for item in items)
        return RankingExample(numbers, range(len(numbers), len(numbers) + 1))

    def space(self, batch: Sequence[RankingExample]) -> TrieSpace:
        """The search space of a batch: a row for each place at which an item is to be found."""
        targets = [right for one in batch for right in one.targets]
        inputs = Positions.of(batch, self.device)
        return TrieSpace(self.index, targets, inputs, names=self.ids.names, owners=len(batch))


def scorer_of(settings: RankerSettings, ids: ItemIds) -> RecurrentRanker:
    """The scorer that the settings describe."""
    scorer = RecurrentRanker(
        ids.paths,
        tuple(map(len, ids.names)),
        size=settings.size,
        layers=settings.layers,
        dropout=settings.dropout,
    )
    scorer.accumulate, scorer.normalize = settings.accumulate, settings.normalization
    return scorer
