"""Tag words as they come: the beam after each word, and what has become certain."""

from dataclasses import dataclass, field, replace
from typing import final

from ...check import check_width
from ...search.beam import initial_beam
from ...search.beam_search import search_step
from ...search.lineage import Branch, Lineage
from ..stream import check_open, check_streaming, check_word, deciding, moves, scores_of, shares
from .listening import listener_of
from .model import Tagger
from .space import TaggingExample


@dataclass(frozen=True)
class TaggedSoFar:
    """One way to tag the words so far."""

    score: float
    probability: float
    """Its share of the beam."""
    _branch: Branch = field(repr=False, compare=False)
    _source: "TaggingStream" = field(repr=False, compare=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, from the first word on."""
        return self._source.names(self._source.lineage.path(self._branch))


@dataclass(frozen=True)
class TaggingSoFar:
    """What a tagger says of the words so far.

    Lists of all tags are made when they are asked for: `certain`, and `tags` of a hypothesis. All
    else takes a time that does not depend on how many words came before.
    """

    beam: tuple[TaggedSoFar, ...]
    """Best first; at least one."""
    new: tuple[str, ...]
    """The tags that have become certain with the last word; they come after the earlier ones."""
    _count: int = field(repr=False)
    _source: "TaggingStream" = field(repr=False, compare=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """The best tags."""
        return self.beam[0].tags

    @property
    def certain(self) -> tuple[str, ...]:
        """The first tags, on which all hypotheses agree: no word to come can change them."""
        return self._source.names(self._source.lineage.trunk[: self._count])


@final
class TaggingStream:
    """One sentence, or an endless one, word by word; decoding it at once gives the same answers.

    A word is decided on as soon as the words are there that the tagger may look ahead to. Work and
    memory per word do not grow with the words before it, but for a list of the certain tags.
    """

    def __init__(self, tagger: Tagger, width: int = 8) -> None:
        ahead = tagger.settings.ahead
        check_streaming(tagger, ahead)
        self.tagger, self.width = tagger, check_width(width)
        self.space = tagger.space([TaggingExample(tagger.encode([]).features, ended=False)])
        self.listener = listener_of(tagger, ahead or 0)
        self.lineage = Lineage()
        self.finished = False
        with deciding(tagger.scorer):
            self.beam = initial_beam(self.space, tagger.scorer)

    def feed(self, word: str) -> TaggingSoFar:
        """Hear one more word."""
        check_open(self.finished)
        heard = check_word(word)
        with deciding(self.tagger.scorer):
            return self._decide(self.listener.hear(heard))

    def finish(self) -> TaggingSoFar:
        """Decide on the words that were waiting; the beam is now that of the whole sentence."""
        check_open(self.finished)
        self.finished = True
        with deciding(self.tagger.scorer):
            return self._decide(self.listener.end())

    def names(self, tags: list[int]) -> tuple[str, ...]:
        """Tags by their names."""
        return tuple(self.tagger.lexicon.tags[tag] for tag in tags)

    def _decide(self, heard: list[object]) -> TaggingSoFar:
        """Take a step for each word that can be decided on."""
        before = len(self.lineage.trunk)
        for known in heard:
            memory = self.listener.put(self.beam.memory, self.beam.depth, known)
            beam = replace(self.beam, memory=memory)
            (step,), self.beam = search_step(
                self.space, self.tagger.scorer, beam, self.width, self.space.finish
            )
            self.lineage.grow(*moves(step))
        scores = scores_of(self.beam)
        ways = zip(scores, shares(scores), self.lineage.beam, strict=True)
        trunk = self.lineage.trunk
        return TaggingSoFar(
            tuple(TaggedSoFar(*way, self) for way in ways),
            self.names(trunk[before:]),
            len(trunk),
            self,
        )
