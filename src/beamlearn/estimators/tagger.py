"""BeamTagger: a label for each word."""
# ruff: noqa: N803 (X is scikit-learn's name)

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

from ..tasks.decoding import in_order
from ..tasks.lists import Lists, words_of
from ..tasks.tagging.decode import Tagged, Tagging, tag
from ..tasks.tagging.lists import pairs_of
from ..tasks.tagging.report import TaggingReport
from ..tasks.tagging.sentences import TaggedSentences
from ..tasks.tagging.task import TAGGING
from ..tasks.task import Kind
from .estimator import BeamEstimator


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BeamTagger(BeamEstimator[Lists, Lists, list[str], Tagged, TaggingReport]):
    """A tagger that is trained with the beam that it decodes with.

    The parameters are the settings `Learning` and `TaggerSettings`, with the same names,
    defaults and meanings, and `device` and `verbose` (show the progress on standard error).
    They are checked by `fit`. `width=None` is the width of the algorithm: 1 for `log_likelihood`
    and `dagger`, 8 for the others. After `fit` there are `classes_`, the labels, and `history_`,
    one record per validation.

    >>> X = [["the", "dog", "barks"], ["dogs", "bark"]] * 10
    >>> y = [["D", "N", "V"], ["N", "V"]] * 10
    >>> tagger = BeamTagger(width=2, epochs=3, learning_rate=0.03, min_count=1, history_size=8)
    >>> tagger.fit(X, y).predict([["the", "dogs", "bark"]])
    [['D', 'N', 'V']]
    >>> tagger
    BeamTagger(width=2, epochs=3, learning_rate=0.03, min_count=1, history_size=8)
    """

    model: Literal["neural", "linear"] = "neural"
    context: Literal["streaming", "sentence"] = "sentence"
    lookahead: int = 0
    constrained: bool = False
    min_count: int = 2
    word_size: int = 96
    affix_length: int = 4
    affix_size: int = 96
    vectors: str | None = None
    freeze_vectors: bool = True
    encoder_size: int = 128
    encoder_layers: int = 1
    history: Literal["lstm", "gru"] = "lstm"
    history_size: int = 128
    tag_size: int = 64
    dropout: float = 0.3
    buckets: int = 1 << 20
    accumulate: bool = True
    normalize: Literal["auto", "log_softmax", "none"] = "auto"
    _kind: ClassVar[Kind[Any, Any, Any]] = TAGGING

    def predict_confidence(self, X: Lists, width: int | None = None) -> list[list[float]]:
        """For each label of `predict`, the share of the final beam that agrees with it."""
        decoded = self._decode(X, self._beam(width), 1)
        return [list(found.confidence) for found in decoded]

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
