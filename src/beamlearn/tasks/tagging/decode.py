"""Tag sentences: the best tags, n-best lists and confidences."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass

import torch

from ...search.beam_search import SearchResult
from ..decoding import searched
from .model import Tagger


@dataclass(frozen=True)
class Tagged:
    """One way to tag a sentence."""

    tags: tuple[str, ...]
    score: float
    probability: float
    """Its share of the final beam."""


@dataclass(frozen=True)
class Tagging:
    """What a tagger says of one sentence."""

    nbest: tuple[Tagged, ...]
    """Best first; at least one."""
    confidence: tuple[float, ...]
    """For each word, the share of the final beam that agrees with the best on its tag."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The best tags."""
        return self.nbest[0].tags


def tag(
    tagger: Tagger,
    sentences: Sequence[Sequence[str]],
    width: int = 8,
    *,
    nbest: int = 1,
    batch_size: int = 64,
) -> Iterator[tuple[int, Tagging]]:
    """Yield the number and the tagging of every sentence, batch by batch, short ones first.

    `nbest` is how many ways to tag it are listed, at most `width`.
    """
    encoded = (tagger.encode(words) for words in sentences)
    for numbers, batch, result in searched(tagger, encoded, width, nbest, batch_size):
        taggings = read_taggings(tagger, batch, result, nbest)
        yield from zip(numbers, taggings, strict=True)


def read_taggings(
    tagger: Tagger, batch: Sequence[Sized], result: SearchResult, nbest: int = 1
) -> list[Tagging]:
    """Read n-best lists and confidences off a search, for all its sentences at once."""
    names, lengths = tagger.lexicon.tags, list(map(len, batch))
    tags = result.trace.final_actions
    scores = result.nbest_scores.double().masked_fill(~result.nbest_mask, -torch.inf)
    shares = scores.softmax(dim=-1)
    agree = (tags == tags[:, :1]) * shares[..., None]
    confidence = agree.sum(dim=1).clamp(max=1.0)
    kept = result.nbest_mask.sum(dim=-1).clamp(max=nbest)
    fields = (tags[:, :nbest], scores, shares, confidence, kept)
    return [
        Tagging(
            tuple(
                Tagged(tuple(names[tag] for tag in path[:length]), score, share)
                for path, score, share in zip(*(row[:kept] for row in rows), strict=True)
            ),
            tuple(sure[:length]),
        )
        for length, *rows, sure, kept in zip(lengths, *(f.tolist() for f in fields), strict=True)
    ]
