"""A linear tagger with hashed features, as in CRFsuite."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, final
from zlib import crc32

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...search.neighbors import Move
from ...search.scorer import PathScorer
from ..vocabulary import REMEMBERED, affixes_of
from .space import TaggingPosition, TaggingSpace

_SPREAD, _TAG, _PAIR = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
"""Odd numbers that spread what they are multiplied with over all buckets."""


HISTORY = 3
"""How many features describe the previous tags."""


def hashed_features(
    words: Sequence[str], before: int = 2, after: int = 2
) -> Int[Tensor, "words f"]:
    """Hash the usual features of each word: itself, its affixes and shape, its neighbors.

    The first column is the word itself. `before` and `after` say how many words to each side
    are looked at; a stream has `after=0`.
    """
    padded = [*["<"] * before, *(word.lower() for word in words), *[">"] * after]
    rows = [
        hashed_word(word, padded[place : place + before + 1 + after], before)
        for place, word in enumerate(words)
    ]
    width = 2 + len(affixes_of("", 4)) + 2 * (before + after)
    return torch.tensor(rows, dtype=torch.long).view(len(rows), width)


def hashed_word(word: str, window: Sequence[str], before: int) -> list[int]:
    """Hash the features of a word in a window of small letters with `before` words before it."""
    names = [f"at{j - before}={w}" for j, w in enumerate(window) if j != before]
    names += [f"pair{j - before}={' '.join(window[j : j + 2])}" for j in range(len(window) - 1)]
    return [*hashed_form(word), *(crc32(name.encode()) for name in names)]


@lru_cache(maxsize=REMEMBERED)
def hashed_form(word: str) -> tuple[int, ...]:
    """Hash what is seen of a word by itself; most words of a text have been seen before."""
    names = [f"word={word}", f"low={word.lower()}"]
    names += [f"affix={affix}" for affix in affixes_of(word, 4)]
    return tuple(crc32(name.encode()) for name in names)


@dataclass(frozen=True)
class LinearTaggerMemory:
    """The scores from the words alone, and the last two tags of each hypothesis."""

    emissions: Sequence[Tensor] | Mapping[int, Tensor]
    """Word by word, the part of the scores that is the same for all hypotheses."""
    words: Sequence[Tensor] | Mapping[int, Tensor]
    """Word by word, the hashed word of each example."""
    last: Int[Tensor, "batch k"]
    second_last: Int[Tensor, "batch k"]


@final
class LinearTagger(PathScorer):
    """s(tag) = theta . phi(word in context, last two tags, tag), hashed into `buckets` weights."""

    linear = True

    def __init__(
        self,
        tags: int,
        buckets: int,
        accumulate: bool = True,
        normalize: Literal["log_softmax"] | None = None,
    ) -> None:
        super().__init__()
        self.accumulate, self.normalize = accumulate, normalize
        self.tags, self.buckets = tags, buckets
        self.theta = nn.Parameter(torch.zeros(buckets))

    def dot(self, features: Int[Tensor, "*shape f"]) -> Float[Tensor, "*shape tags"]:
        """theta . phi(features, tag) of every tag."""
        tags = torch.arange(self.tags, device=features.device)
        mixed = (features[..., None] * _SPREAD + (tags + 1) * _TAG) & 0x7FFFFFFFFFFF
        mixed = (mixed ^ (mixed >> 17)) * _PAIR & 0x7FFFFFFFFFFF
        return self.theta[(mixed ^ (mixed >> 15)) % self.buckets].sum(dim=-2)

    def start(self, space: TaggingSpace) -> LinearTaggerMemory:
        none = torch.full((len(space), 1), self.tags, device=space.lengths.device)
        emissions = self.dot(space.features).unbind(dim=1)
        words = space.features[..., 0].unbind(dim=1)
        return LinearTaggerMemory(emissions, words, none, none + 1)

    def score(
        self, memory: LinearTaggerMemory, nodes: TaggingPosition
    ) -> Float[Tensor, "batch k tags"]:
        word = memory.words[nodes.word][nodes.examples][:, None]
        recalled = self.recall(memory.last, memory.second_last, word)
        return recalled + memory.emissions[nodes.word][nodes.examples][:, None]

    def recall(
        self,
        last: Int[Tensor, "*shape"],
        second_last: Int[Tensor, "*shape"],
        word: Int[Tensor, "*#shape"],
    ) -> Float[Tensor, "*shape tags"]:
        """The part of the scores that depends on the last two tags."""
        last = last + 1
        pair, seen = last * 4096 + second_last + 1, last * _PAIR + word
        return self.dot(torch.stack([last, pair, seen], dim=-1))

    def advance(
        self, memory: LinearTaggerMemory, nodes: TaggingPosition, move: Move
    ) -> LinearTaggerMemory:
        return replace(memory, last=move.actions, second_last=move.follow(memory.last))

    def along(
        self, memory: LinearTaggerMemory, actions: Int[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words tags"]:
        words = range(actions.shape[1])
        last = torch.cat([memory.last, actions[:, :-1]], dim=1)
        second_last = torch.cat([memory.second_last, last[:, :-1]], dim=1)
        word = torch.stack([memory.words[place] for place in words], dim=1)
        emitted = torch.stack([memory.emissions[place] for place in words], dim=1)
        return self.recall(last, second_last, word) + emitted
