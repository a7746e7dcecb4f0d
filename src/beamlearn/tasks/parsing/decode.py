"""Parse sentences: the best trees, n-best lists and confidences."""

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace

import torch

from ...search.beam_search import SearchResult
from ..decoding import BATCH, searched
from ..footprint import footprint, word_numbers
from .actions import LOST
from .attachment import arcs_of
from .building import build
from .model import Parser
from .projective import decode
from .space import ParsingExample
from .tree import Tree


@dataclass(frozen=True)
class Parse:
    """One way to parse a sentence."""

    tree: Tree
    score: float
    probability: float
    """Its share of the final beam."""

    @property
    def arcs(self) -> list[tuple[int, str]]:
        """The head and the relation of each word."""
        return arcs_of(self.tree)


@dataclass(frozen=True)
class Parsing:
    """What a parser says of one sentence."""

    nbest: tuple[Parse, ...]
    """Best first, no tree twice; at least one."""
    confidence: tuple[float, ...] = ()
    """For each word, the share of the final beam that agrees with the best on its arc.

    Empty if it was not asked for.
    """

    @property
    def tree(self) -> Tree:
        """The best tree."""
        return self.nbest[0].tree


def parse(
    parser: Parser,
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]] | None = None,
    width: int = 8,
    *,
    nbest: int = 1,
    confidence: bool = True,
    batch_size: int = BATCH,
    numbers: Iterable[int] | None = None,
) -> Iterator[tuple[int, Parsing]]:
    """Yield the number and the parsing of every sentence, batch by batch, short ones first.

    `nbest` is how many ways to parse it are listed, at most `width`. Without `confidence`, and
    with one way, only the best hypothesis is looked at, which is faster. `numbers` are those of
    the sentences; None: they are counted from 0.
    """
    encoded = encoded_sentences(parser, words, tags)
    for places, batch, result in searched(parser, encoded, width, nbest, batch_size, numbers):
        slots = None if confidence or nbest > 1 else 1
        parsings = read_parsings(parser, batch, result, nbest, slots)
        yield from zip(places, parsings, strict=True)


def encoded_sentences(
    parser: Parser, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None
) -> Iterator[ParsingExample]:
    """Sentences in numbers, with their tags if the parser looks at them."""
    for i, sentence in enumerate(words):
        yield parser.encode(sentence, None if tags is None else tags[i])


def needed(parser: Parser, words: int, width: int) -> int:
    """About how many bytes it takes to parse so many words."""
    settings = parser.settings
    stacks = 16 * width  # a hypothesis remembers of each word where it is, and its head
    numbers = word_numbers(settings, settings.encoder_size) + 4 * settings.hidden_size + stacks
    return footprint(words, numbers, parser.system.steps(words) + 1, width)


def read_parsings(
    parser: Parser,
    batch: Sequence[Sized],
    result: SearchResult,
    nbest: int = 1,
    slots: int | None = None,
) -> list[Parsing]:
    """Read n-best lists and confidences off a search, for all its sentences at once.

    Python looks at all trees of a sentence only where it has to: for lists, and for marks, which
    mean something only in a whole tree. `slots` is how many hypotheses are read; None: all.
    """
    lengths = list(map(len, batch))
    taken = result.trace.final_actions if slots is None else result.trace.best_actions(slots)
    words = torch.tensor(lengths, device=taken.device)
    heads, makers = build(parser.system, parser.actions, words, taken)
    scores = result.nbest_scores.double().masked_fill(~result.nbest_mask, -torch.inf)
    shares = scores.softmax(dim=-1)[:, : taken.shape[1]]
    relations = parser.actions.relation_of[makers]
    agree = (heads == heads[:, :1]) & (relations == relations[:, :1])
    sure = (agree * shares[..., None]).sum(dim=1).clamp(max=1.0)
    every = (parser.marks[makers] & (makers != LOST)).any(dim=-1).any(dim=-1) | (nbest > 1)
    best = (agree.all(dim=-1) * shares).sum(dim=-1).clamp(max=1.0)  # by whatever path
    shares[:, 0] = torch.where(every, shares[:, 0], best)
    counts = torch.where(every, result.nbest_mask.sum(dim=-1), 1).clamp(max=taken.shape[1])
    rows = (field.tolist() for field in (heads, makers, scores, shares, sure, every, counts))
    parsings = []
    for length, *fields, shown, whole, count in zip(lengths, *rows, strict=True):
        ways = _ways(parser, length, *(field[:count] for field in fields))
        confidence = _agreement(ways) if whole else tuple(shown[1 : length + 1])
        parsings.append(Parsing(ways[:nbest], () if slots is not None else confidence))
    return parsings


def _agreement(ways: Sequence[Parse]) -> tuple[float, ...]:
    """For each word, the share of the beam that agrees with the first tree on its arc."""
    return tuple(
        min(1.0, sum(way.probability for way in ways if way.arcs[word] == arc))
        for word, arc in enumerate(ways[0].arcs)
    )


def _ways(
    parser: Parser,
    length: int,
    heads: list[list[int]],
    makers: list[list[int]],
    scores: list[float],
    shares: list[float],
) -> tuple[Parse, ...]:
    """The different trees among the hypotheses of a sentence, best first."""
    names, words = parser.actions.names, slice(1, length + 1)
    trees = [
        Tree(tuple(path[words]), tuple(names[action] for action in made[words]))
        for path, made in zip(heads, makers, strict=True)
    ]
    return different(parser, trees, scores, shares)


def different(
    parser: Parser, trees: Sequence[Tree], scores: Sequence[float], shares: Sequence[float]
) -> tuple[Parse, ...]:
    """The different trees among those that hypotheses have built, best first, without marks."""
    found: dict[Tree, Parse] = {}
    for built, score, share in zip(trees, scores, shares, strict=True):
        tree = decode(built) if parser.settings.encodes else built
        if tree in found:
            first = found[tree]
            found[tree] = replace(first, probability=first.probability + share)
        else:
            found[tree] = Parse(tree, score, share)
    return tuple(found.values())
