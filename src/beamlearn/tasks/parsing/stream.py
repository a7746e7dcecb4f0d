"""Parse words as they come: the beam after each word, and which arcs have become certain."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import torch
from torch import Tensor

from ...check import check_width
from ...nn.context_stream import ContextStream
from ...search.beam import Step, initial_beam
from ...search.beam_search import search_step
from ..stream import (
    StreamError,
    check_open,
    check_streaming,
    check_word,
    deciding,
    moves,
    scores_of,
    shares,
)
from .decode import Parse, different
from .lists import texts_of
from .model import Parser
from .network import NeuralParser
from .open_arcs import Arc, Arcs, OpenArcs
from .projective import MARK
from .space import ParsingExample
from .system import NONE
from .tree import Tree


@dataclass(frozen=True)
class ParsedSoFar:
    """One way to parse the words so far."""

    score: float
    probability: float
    """Its share of the beam."""
    _own: Arcs = field(repr=False)
    _count: int = field(repr=False)
    _words: int = field(repr=False)
    _open: OpenArcs = field(repr=False, compare=False)

    @property
    def arcs(self) -> list[Arc | None]:
        """The head and the relation of each word so far; None: it has none yet.

        Where a word may be moved at the end, because its arc crosses others, it has none before.
        """
        return self._open.listed(self._words, self._count, self._own)


@dataclass(frozen=True)
class ParsingSoFar:
    """What a parser says of the words so far.

    Lists of all arcs are made when they are asked for: `certain`, and `arcs` of a hypothesis.
    """

    beam: Sequence[ParsedSoFar | Parse]
    """Best first; at least one. After the end they are trees, as in n-best lists."""
    new: dict[int, Arc]
    """The arcs that have become certain with the last word, by the number of the dependent."""
    _count: int = field(repr=False)
    _words: int = field(repr=False)
    _open: OpenArcs = field(repr=False, compare=False)

    @property
    def certain(self) -> list[Arc | None]:
        """For each word so far, the arc that it has in all hypotheses; None: they do not agree.

        No word to come can change these arcs.
        """
        return self._open.listed(self._words, self._count)


@final
class ParsingStream:
    """One sentence word by word; decoding it at once gives the same answers.

    A transition is taken as soon as all hypotheses know the next word of their buffer, and the
    words that the parser may look ahead to: about two for each word. What is kept of the words is
    one row for each, as stacks may hold any of them.
    """

    def __init__(self, parser: Parser, width: int = 8) -> None:
        ahead = parser.settings.lookahead
        check_streaming(parser, None if ahead == "all" else ahead)
        if parser.settings.system == "covington":
            raise StreamError(
                "`stream` needs a transition system whose work for a word does not grow with the "
                "words before it, but this parser has `system` = covington, which compares them "
                "all; train one with `system` = arc-hybrid."
            )
        if not isinstance(parser.scorer, NeuralParser):
            name = type(parser.scorer).__name__
            raise TypeError(f"`stream` has no way to feed words to a {name}.")
        self.parser, self.scorer, self.width = parser, parser.scorer, check_width(width)
        self.tagged = parser.settings.tags != "none"
        self.kinds = parser.actions.kind_of.tolist()
        self.contexts = ContextStream(self.scorer.streamed)
        self.open = OpenArcs(MARK if parser.settings.encodes else None)
        self.words, self.finished = 0, False
        self.space = parser.space([ParsingExample(self._features([]), ended=False)])
        with deciding(self.scorer):
            self.beam = initial_beam(self.space, self.scorer)

    def feed(self, word: str | tuple[str, str]) -> ParsingSoFar:
        """Hear one more word; for a parser that sees tags, a pair of a word and its tag."""
        check_open(self.finished)
        features = self._features([word]).to(self.parser.device)
        self.words += 1
        before = len(self.open.agreed)
        with deciding(self.scorer):
            self._hear(self.contexts.read(self.scorer.sight(features[None])[0]))
            while self._ready():
                self._step()
        scores = scores_of(self.beam)
        ways = zip(scores, shares(scores), self.open.beam, strict=True)
        place = (len(self.open.agreed), self.words, self.open)
        return self._so_far(tuple(ParsedSoFar(*way, *place) for way in ways), before)

    def finish(self) -> ParsingSoFar:
        """No word follows: take all transitions that are left; the beam is now one of trees."""
        check_open(self.finished)
        self.finished = True
        before, scores = len(self.open.agreed), [0.0]
        with deciding(self.scorer):
            self._hear(self.contexts.end())
            lengths = torch.tensor([self.words], device=self.parser.device)
            self.beam = replace(self.beam, nodes=replace(self.beam.nodes, lengths=lengths))
            while self.words and len(self.beam.examples):
                step = self._step()
                scores = step.scores[0, : len(self.open.beam)].double().tolist()
        trees = different(self.parser, self._trees(), scores, shares(scores))
        self.open.close([dict(enumerate(way.arcs, 1)) for way in trees])
        return self._so_far(trees, before)

    def _features(self, words: Sequence[Any]) -> Tensor:
        """Words in numbers, maybe with tags."""
        if not self.tagged:
            return self.parser.encode([check_word(word) for word in words]).features
        pairs = [texts_of(pair, "word") for pair in words]
        return self.parser.encode([w for w, _ in pairs], [tag for _, tag in pairs]).features

    def _hear(self, contexts: list[Tensor]) -> None:
        """Let the scorer look at words, whose contexts are complete."""
        for context in contexts:
            memory = self.scorer.hear(self.beam.memory, context)
            self.beam = replace(self.beam, memory=memory)

    def _ready(self) -> bool:
        """Can all hypotheses see the next word of their buffers?"""
        furthest = int(self.beam.nodes.front[self.beam.kept].max())
        known: int = self.beam.memory.words  # the first of these is none
        return furthest < known

    def _step(self) -> Step:
        """Take a transition, and note the arcs that it makes."""
        dependents, heads = (f[0].tolist() for f in self.parser.system.arcs(self.beam.nodes))
        (step,), self.beam = search_step(
            self.space, self.scorer, self.beam, self.width, self.space.finish
        )
        slots, actions = moves(step)
        made: list[tuple[int, Arc] | None] = []
        for slot, action in zip(slots, actions, strict=True):
            kind, name = self.kinds[action], self.parser.actions.names[action]
            word, head = dependents[slot][kind], heads[slot][kind]
            made.append(None if word == NONE else (word, (head, name)))
        self.open.grow(slots, made)
        return step

    def _trees(self) -> list[Tree]:
        """What all hypotheses have built in the end, with marks."""
        trees, agreed = [], dict(self.open.agreed)
        for own in self.open.beam:
            made = {**agreed, **own}
            arcs = [made[word] for word in range(1, self.words + 1)]
            trees.append(Tree(tuple(head for head, _ in arcs), tuple(name for _, name in arcs)))
        return trees

    def _so_far(self, beam: Sequence[ParsedSoFar | Parse], before: int) -> ParsingSoFar:
        agreed = self.open.agreed
        return ParsingSoFar(beam, dict(agreed[before:]), len(agreed), self.words, self.open)
