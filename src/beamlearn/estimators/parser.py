"""BeamParser: a head and a relation for each word."""
# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

from ..tasks.decoding import in_order
from ..tasks.lists import Lists
from ..tasks.parsing.attachment import attachment
from ..tasks.parsing.decode import Parse, Parsing, parse
from ..tasks.parsing.lists import Tagged, Trees, inputs_of, pairs_of
from ..tasks.parsing.report import ParsingReport
from ..tasks.parsing.sentences import ParsedSentences
from ..tasks.parsing.settings import ParserSettings
from ..tasks.parsing.stream import ParsingStream
from ..tasks.parsing.task import PARSING
from ..tasks.task import TaskSpec
from .estimator import BeamEstimator

Given = Lists | Tagged
Arcs = list[tuple[int, str]]

PARSER = ParserSettings()
"""The defaults of the settings, which are those of the parameters."""


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BeamParser(BeamEstimator[Given, Trees, Arcs, Parse, ParsingReport]):
    """A dependency parser that is trained with the beam that it decodes with.

    `fit` trains it, `save` writes it to a folder, `BeamParser.load` reads it again, and
    `BeamParser.from_run` reads what `beamlearn train parse` wrote.

    `X` are sentences, lists of words; with `tags="upos"` or `tags="xpos"` the words are pairs of
    a word and its tag. `y` are their trees, lists with a pair for each word: the number of its
    head, counted from 1 (0 for the root), and its relation to it. `predict` returns the same.

    The parameters are the settings `Learning` and `ParserSettings`, with the same names,
    defaults and meanings, and `device` and `verbose` (show the progress, on standard error or in
    the notebook). They are checked by `fit`. After `fit` there are `relations_`, `width_`, the
    width to decode with, and `history_`, one record per validation.

    >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
    >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root")]] * 10
    >>> small = {"word_size": 16, "affix_length": 0, "encoder_size": 16, "history_size": 16}
    >>> parser = BeamParser(width=2, epochs=3, learning_rate=0.03, min_count=1, **small)
    >>> parser.fit(X, y).predict([["the", "dogs", "bark"]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root')]]
    """

    system: Literal["arc-hybrid", "arc-eager", "arc-standard", "covington"] = PARSER.system
    crossing: Literal["auto", "encode", "lift", "keep"] = PARSER.crossing
    mark_count: int = PARSER.mark_count
    cost: Literal["labeled", "unlabeled"] = PARSER.cost
    tags: Literal["none", "upos", "xpos"] = PARSER.tags
    tag_size: int = PARSER.tag_size
    min_count: int = PARSER.min_count
    word_size: int = PARSER.word_size
    word_dropout: float = PARSER.word_dropout
    affix_length: int = PARSER.affix_length
    affix_size: int = PARSER.affix_size
    max_characters: int = PARSER.max_characters
    character_size: int = PARSER.character_size
    vectors: str | None = PARSER.vectors
    freeze_vectors: bool = PARSER.freeze_vectors
    encoder: Literal["lstm", "convolution"] = PARSER.encoder
    lookahead: int | Literal["all"] = PARSER.lookahead
    encoder_size: int = PARSER.encoder_size
    encoder_layers: int = PARSER.encoder_layers
    hidden_size: int = PARSER.hidden_size
    history: Literal["lstm", "gru", "none"] = PARSER.history
    history_size: int = PARSER.history_size
    action_size: int = PARSER.action_size
    dropout: float = PARSER.dropout
    accumulate: bool = PARSER.accumulate
    normalize: Literal["auto", "log_softmax", "none"] = PARSER.normalize
    _task: ClassVar[TaskSpec[Any, Any, Any]] = PARSING

    def predict_confidence(self, X: Given, width: int | None = None) -> list[list[float]]:
        """For each arc of `predict`, the share of the final beam that agrees with it."""
        return [list(found.confidence) for found in self._decode(X, self._beam(width), 1)]

    def stream(self, width: int | None = None) -> ParsingStream:
        """Parse a sentence as its words come; `width` is `width_` unless given.

        The parser must have been trained with a number as its `lookahead`, and with a system that
        has a stack (any but covington). In the end, trees are those of `predict` and
        `predict_nbest`.

        >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
        >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root")]] * 10
        >>> small = {"word_size": 16, "affix_length": 0, "encoder_size": 16, "min_count": 1}
        >>> parser = BeamParser(lookahead=0, width=2, epochs=4, learning_rate=0.03, **small)
        >>> stream = parser.fit(X, y).stream()
        >>> for word in ["the", "dogs", "bark"]:
        ...     found = stream.feed(word)
        >>> found.beam[0].arcs
        [(2, 'det'), (3, 'nsubj'), None]
        >>> stream.finish().beam[0].arcs
        [(2, 'det'), (3, 'nsubj'), (0, 'root')]
        """
        return ParsingStream(self._require().model, self._beam(width))

    def score(self, X: Given, y: Trees) -> float:
        """LAS: the share of words that get their right head and relation."""
        sentences = self._pairs(self._require().experiment, X, y)
        found = self._parse(sentences.words, sentences.tags, self._beam(None), 1)
        return attachment(sentences.trees, [parsing.tree for parsing in found]).las

    @property
    def relations_(self) -> list[str]:
        """The relations, sorted."""
        return list(self._require().model.lexicon.plain_relations)

    def _pairs(
        self, experiment: Any, X: Given, y: Trees, x_name: str = "X", y_name: str = "y"
    ) -> ParsedSentences:
        return pairs_of(X, y, looks_at_tags(experiment), x_name, y_name)

    def _decode(self, X: Given, width: int, n: int) -> list[Parsing]:
        return self._parse(*inputs_of(X, looks_at_tags(self._require().experiment)), width, n)

    def _parse(
        self,
        words: Sequence[list[str]],
        tags: Sequence[list[str]] | None,
        width: int,
        n: int,
    ) -> list[Parsing]:
        return in_order(parse(self._require().model, words, tags, width, nbest=n))

    def _output(self, way: Parse) -> Arcs:
        return way.arcs


def looks_at_tags(experiment: Any) -> bool:
    """Do the words come with tags?"""
    return bool(experiment.parser.tags != "none")
