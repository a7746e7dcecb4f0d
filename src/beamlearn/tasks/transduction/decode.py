"""Transduce sources: the best outputs and n-best lists."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from ...search.beam_search import SearchResult
from ...search.constraint import Constraint
from ..decoding import searched
from ..footprint import NUMBER, footprint
from .transduction_model import TransductionModel


@dataclass(frozen=True)
class Transduced:
    """One way to transduce a source."""

    output: str
    tokens: tuple[str, ...]
    score: float
    probability: float
    """Its share of the final beam, summed over all its tokenizations."""


@dataclass(frozen=True)
class Transduction:
    """What a transducer says of one source."""

    nbest: tuple[Transduced, ...]
    """Best first, no text twice; at least one."""

    @property
    def output(self) -> str:
        """The best output."""
        return self.nbest[0].output

    @property
    def confidence(self) -> float:
        """The share of the final beam that the best output has."""
        return self.nbest[0].probability


def transduce(
    transducer: TransductionModel,
    sources: Sequence[str],
    width: int = 8,
    *,
    nbest: int = 1,
    batch_size: int = 64,
    numbers: Iterable[int] | None = None,
    constraint: Constraint | None = None,
) -> Iterator[tuple[int, Transduction]]:
    """Yield the number and the transduction of every source, batch by batch, short ones first.

    `nbest` is how many outputs are listed, at most `width`. `numbers` are those of the sources;
    None: they are counted from 0. Only outputs that the `constraint` allows are found.
    """
    encoded = (transducer.encode(source) for source in sources)
    asked = (width, nbest, batch_size, numbers, constraint)
    for places, _, result in searched(transducer, encoded, *asked):
        yield from zip(places, read_transductions(transducer, result, nbest), strict=True)


def needed(transducer: TransductionModel, source: str, width: int) -> int:
    """About how many bytes it takes to transduce a source.

    A transformer keeps keys and values of all hypotheses, and has room for twice as many.
    """
    example, vectors = transducer.encode(source), transducer.vectors
    steps = transducer.limit(example) + 1
    past = NUMBER * width * (4 * vectors + 2 * width) if transducer.keeps_past else 0
    return footprint(len(example), 16 * vectors, steps, width) + steps * past


def read_transductions(
    transducer: TransductionModel, result: SearchResult, nbest: int
) -> list[Transduction]:
    """Read n-best lists off a search, for all its sources at once."""
    actions = result.trace.final_actions.tolist()
    scores = result.nbest_scores.double().masked_fill(~result.nbest_mask, -torch.inf)
    shares = scores.softmax(dim=-1)
    counts = result.nbest_mask.sum(dim=-1).tolist()
    return [
        Transduction(_ways(transducer, *(row[:count] for row in rows))[:nbest])
        for count, *rows in zip(counts, actions, scores.tolist(), shares.tolist(), strict=True)
    ]


def _ways(
    transducer: TransductionModel, paths: list[list[int]], scores: list[float], shares: list[float]
) -> tuple[Transduced, ...]:
    """The different texts among the hypotheses of a source: subwords may spell one in many ways."""
    symbols = transducer.symbols
    found: dict[str, Transduced] = {}
    for actions, score, share in zip(paths, scores, shares, strict=True):
        tokens = symbols.spell([action for action in actions if action >= 0])
        text = symbols.target.join(tokens)
        first = found.setdefault(text, Transduced(text, tuple(tokens), score, 0.0))
        found[text] = replace(first, probability=min(1.0, first.probability + share))
    return tuple(found.values())
