"""BeamTagger: a label for each word."""
# ruff: noqa: N803 (X is scikit-learn's name)

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from ..search.automaton import Automaton
from ..tasks.decoding import in_order
from ..tasks.lists import Lists, words_of
from ..tasks.tagging.decode import Tagged, Tagging, label_shares, tag
from ..tasks.tagging.lists import pairs_of
from ..tasks.tagging.report import TaggingReport
from ..tasks.tagging.sentences import TaggedSentences
from ..tasks.tagging.settings import TaggerSettings
from ..tasks.tagging.stream import TaggingStream
from ..tasks.tagging.task import TAGGING
from ..tasks.task import TaskSpec
from .estimator import BeamEstimator

TAGGER = TaggerSettings()
"""The defaults of the settings, which are those of the parameters."""


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BeamTagger(BeamEstimator[Lists, Lists, list[str], Tagged, TaggingReport]):
    """A tagger that is trained with the beam that it decodes with.

    `fit` trains it, `save` writes it to a folder, `BeamTagger.load` reads it again, and
    `BeamTagger.from_run` reads what `beamlearn train tag` wrote. `predict` returns labels,
    `predict_proba` their probabilities, `predict_nbest` lists of taggings.

    The parameters are the settings `Learning` and `TaggerSettings`, with the same names,
    defaults and meanings, and `device` and `verbose` (show the progress, on standard error or in
    the notebook). They are checked by `fit`. `width=None` is the width of the algorithm: 1 for
    `log_likelihood` and `dagger`, 8 for the others. After `fit` there are `classes_`, the labels,
    `width_`, the width to decode with, and `history_`, one record per validation.

    >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
    >>> y = [["D", "N", "V"], ["N", "V"]] * 10
    >>> tagger = BeamTagger(width=2, epochs=3, learning_rate=0.03, min_count=1, history_size=8)
    >>> tagger.fit(X, y).predict([["the", "dogs", "bark"]])
    [['D', 'N', 'V']]
    >>> tagger
    BeamTagger(epochs=3, history_size=8, learning_rate=0.03, min_count=1, width=2)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     tagger.save(f"{folder}/tagger")
    ...     again = BeamTagger.load(f"{folder}/tagger")
    >>> again.predict([["dogs", "bark"]])
    [['N', 'V']]
    """

    model: Literal["neural", "linear"] = TAGGER.model
    context: Literal["auto", "streaming", "sentence"] = TAGGER.context
    lookahead: int | Literal["all", "auto"] = TAGGER.lookahead
    encoder: Literal["window", "lstm"] = TAGGER.encoder
    constrained: bool = TAGGER.constrained
    min_count: int = TAGGER.min_count
    word_size: int = TAGGER.word_size
    affix_length: int = TAGGER.affix_length
    affix_size: int = TAGGER.affix_size
    vectors: str | None = TAGGER.vectors
    freeze_vectors: bool = TAGGER.freeze_vectors
    encoder_size: int = TAGGER.encoder_size
    encoder_layers: int = TAGGER.encoder_layers
    history: Literal["lstm", "gru"] = TAGGER.history
    history_size: int = TAGGER.history_size
    tag_size: int = TAGGER.tag_size
    dropout: float = TAGGER.dropout
    buckets: int = TAGGER.buckets
    accumulate: bool = TAGGER.accumulate
    normalize: Literal["auto", "log_softmax", "none"] = TAGGER.normalize
    _task: ClassVar[TaskSpec[Any, Any, Any]] = TAGGING

    def predict_confidence(self, X: Lists, width: int | None = None) -> list[list[float]]:
        """For each label of `predict`, the share of the final beam that agrees with it."""
        decoded = self._decode(X, self._beam(width), 1)
        return [list(found.confidence) for found in decoded]

    def predict_proba(self, X: Lists, width: int | None = None) -> list[NDArray[np.float64]]:
        """For each word, the share of the final beam that gives it each label.

        One array per sentence, with a row for each word and a column for each label, in the order
        of `classes_`. A hypothesis has the softmax of its score among all in the final beam, and a
        label has the sum over the hypotheses that give it to the word: rows sum to 1, and the entry
        of a label that `predict` returns is its `predict_confidence`. A label that no hypothesis
        in the beam gives to the word has 0, so a wider beam knows more; with `width=1` every entry
        is 0 or 1.

        >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
        >>> y = [["D", "N", "V"], ["N", "V"]] * 10
        >>> tagger = BeamTagger(width=2, epochs=3, learning_rate=0.03, min_count=1, history_size=8)
        >>> probabilities = tagger.fit(X, y).predict_proba([["the", "dogs", "bark"]], width=8)
        >>> probabilities[0].shape, probabilities[0].argmax(axis=1), tagger.classes_
        ((3, 3), array([0, 1, 2]), ['D', 'N', 'V'])
        """
        model, sentences = self._require().model, words_of(X, "X")
        found = in_order(label_shares(model, sentences, self._beam(width)))
        return [shares.numpy() for shares in found]

    def stream(self, width: int | None = None) -> TaggingStream:
        """Tag a sentence as its words come; `width` is `width_` unless given.

        The tagger must have been trained with a number as its `lookahead`. Tags come that many
        words late, and in the end they are those of `predict` and `predict_nbest`.

        >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
        >>> y = [["D", "N", "V"], ["N", "V"]] * 10
        >>> tagger = BeamTagger(lookahead=0, width=2, epochs=3, learning_rate=0.05, min_count=1)
        >>> stream = tagger.fit(X, y).stream()
        >>> for word in ["the", "dogs"]:
        ...     found = stream.feed(word)
        >>> found.tags, len(found.beam)
        (('D', 'N'), 2)
        >>> stream.finish().tags
        ('D', 'N')
        """
        return TaggingStream(self._require().model, self._beam(width))

    def predict_matching(self, X: Lists, pattern: str, width: int | None = None) -> list[list[str]]:
        """The best labels for each sentence that match a regular expression.

        The letters of the pattern are labels, with spaces between them: `O* B-LOC I-LOC* O*` allows
        sentences with one place. `width` is `width_` unless given.
        """
        model, sentences = self._require().model, words_of(X, "X")
        allowed = Automaton.from_regex(pattern, model.lexicon.tags, words=True).to(self.device)
        found = in_order(tag(model, sentences, self._beam(width), constraint=allowed))
        return [self._output(one.nbest[0]) for one in found]

    def score(self, X: Lists, y: Lists) -> float:
        """The share of words that get their right label."""
        sentences = self._pairs(self._require().experiment, X, y)
        decoded = self._decode(sentences.words, self._beam(None), 1)
        right = [
            a == b
            for gold, found in zip(sentences.tags, decoded, strict=True)
            for a, b in zip(gold, found.tags, strict=True)
        ]
        return sum(right) / len(right)

    @property
    def classes_(self) -> list[str]:
        """The labels, sorted."""
        return list(self._require().model.lexicon.tags)

    def _pairs(
        self, experiment: Any, X: Lists, y: Lists, x_name: str = "X", y_name: str = "y"
    ) -> TaggedSentences:
        return pairs_of(X, y, x_name, y_name)

    def _decode(self, X: Lists, width: int, n: int) -> list[Tagging]:
        return in_order(tag(self._require().model, words_of(X, "X"), width, nbest=n))

    def _output(self, way: Tagged) -> list[str]:
        return list(way.tags)
