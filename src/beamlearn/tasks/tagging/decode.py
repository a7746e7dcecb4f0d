"""Tag sentences: the best tags, n-best lists and confidences."""

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...search.beam_search import SearchResult
from ...search.constraint import Constraint
from ..decoding import BATCH, searched
from ..footprint import footprint, word_numbers
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
    batch_size: int = BATCH,
    numbers: Iterable[int] | None = None,
    constraint: Constraint | None = None,
) -> Iterator[tuple[int, Tagging]]:
    """Yield the number and the tagging of every sentence, batch by batch, short ones first.

    `nbest` is how many ways to tag it are listed, at most `width`. `numbers` are those of the
    sentences; None: they are counted from 0. Only outputs that the `constraint`
    allows are found.
    """
    encoded = (tagger.encode(words) for words in sentences)
    asked = (width, nbest, batch_size, numbers, constraint)
    for places, batch, result in searched(tagger, encoded, *asked):
        taggings = read_taggings(tagger, batch, result, nbest)
        yield from zip(places, taggings, strict=True)


def needed(tagger: Tagger, words: int, width: int) -> int:
    """About how many bytes it takes to tag so many words."""
    settings = tagger.settings
    numbers = word_numbers(settings, settings.encoder_size) + 4 * len(tagger.lexicon.tags)
    return footprint(words, numbers, words, width)


def label_shares(
    tagger: Tagger, sentences: Sequence[Sequence[str]], width: int = 8, *, batch_size: int = BATCH
) -> Iterator[tuple[int, Float[Tensor, "words labels"]]]:
    """Yield the number of every sentence, and for each word the share of the beam of each label.

    The shares of all hypotheses in the final beam that give the word the label are added up.
    """
    encoded = (tagger.encode(words) for words in sentences)
    for numbers, batch, result in searched(tagger, encoded, width, 1, batch_size):
        tags = result.trace.final_actions
        shares = beam_shares(result)[..., None].expand(tags.shape)
        empty = shares.new_zeros(len(batch), len(tagger.lexicon.tags), tags.shape[-1])
        found = empty.scatter_add_(1, tags.clamp(min=0), shares).transpose(1, 2).cpu()
        parts = [row[: len(words)] for row, words in zip(found, batch, strict=True)]
        yield from zip(numbers, parts, strict=True)


def beam_shares(result: SearchResult) -> Float[Tensor, "batch k"]:
    """The softmax of the scores on each n-best list; 0 where it is shorter."""
    scores = result.nbest_scores.double().masked_fill(~result.nbest_mask, -torch.inf)
    return scores.softmax(dim=-1)


def read_taggings(
    tagger: Tagger, batch: Sequence[Sized], result: SearchResult, nbest: int = 1
) -> list[Tagging]:
    """Read n-best lists and confidences off a search, for all its sentences at once."""
    names, lengths = tagger.lexicon.tags, list(map(len, batch))
    tags = result.trace.final_actions
    scores, shares = result.nbest_scores.double(), beam_shares(result)
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
