"""Tag sentences: the best tags, n-best lists and confidences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from ...batches import batches_of
from ...search import SearchResult, beam_search
from .model import Tagger
from .space import Encoded


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


@dataclass(frozen=True)
class Place:
    """A sentence that remembers its place in the input."""

    sentence: Encoded
    number: int

    def __len__(self) -> int:
        return len(self.sentence)


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
    if nbest < 1:
        raise ValueError(f"`nbest` must be at least 1, but {nbest} came; 1 lists the best alone.")
    places = [Place(tagger.encode(words), i) for i, words in enumerate(sentences)]
    for batch in batches_of(places, batch_size):
        result = search(tagger, [place.sentence for place in batch], width)
        lengths = [len(place) for place in batch]
        taggings = _taggings(tagger.lexicon.tags, lengths, result, nbest)
        for place, tagging in zip(batch, taggings, strict=True):
            yield place.number, tagging


def in_order(found: Iterable[tuple[int, Tagging]]) -> list[Tagging]:
    """The taggings that `tag` yields, in the order of the sentences."""
    by_number = dict(found)
    return [by_number[number] for number in range(len(by_number))]


@torch.no_grad()
def search(tagger: Tagger, batch: Sequence[Encoded], width: int) -> SearchResult:
    """Search a batch with the scorer in evaluation mode."""
    training = tagger.scorer.training
    tagger.scorer.eval()
    try:
        return beam_search(tagger.space(batch), tagger.scorer, width)
    finally:
        tagger.scorer.train(training)


def _taggings(
    names: Sequence[str], lengths: Sequence[int], result: SearchResult, nbest: int
) -> list[Tagging]:
    """Read n-best lists and confidences off a search, for all its sentences at once."""
    tags = result.trace.final_actions
    scores = result.final_scores.double().masked_fill(~result.final_mask, -torch.inf)
    shares = scores.softmax(dim=-1)
    agree = (tags == tags[:, :1]) * shares[..., None]
    confidence = agree.sum(dim=1).clamp(max=1.0)
    kept = result.final_mask.sum(dim=-1).clamp(max=nbest)
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
