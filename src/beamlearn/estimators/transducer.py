"""BeamTransducer: a string for each string."""
# ruff: noqa: N803 (X is scikit-learn's name)

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

from ..tasks.decoding import in_order
from ..tasks.task import TaskSpec
from ..tasks.transduction.decode import Transduced, Transduction, transduce
from ..tasks.transduction.lists import References, Texts, pairs_of, texts_of
from ..tasks.transduction.matching import matching
from ..tasks.transduction.pairs import Pairs
from ..tasks.transduction.report import TransductionReport, compared
from ..tasks.transduction.settings import TransducerSettings
from ..tasks.transduction.task import TRANSDUCTION
from .estimator import BeamEstimator

TRANSDUCER = TransducerSettings()
"""The defaults of the settings, which are those of the parameters."""


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BeamTransducer(BeamEstimator[Texts, References, str, Transduced, TransductionReport]):
    """A transducer that is trained with the beam that it decodes with.

    `fit` trains it, `save` writes it to a folder, `BeamTransducer.load` reads it again, and
    `BeamTransducer.from_run` reads what `beamlearn train transduce` wrote.

    `X` are strings, and `y` what they are to become: a string each, or a list of strings where
    several are right. `predict` returns strings. Empty ones are data like all others.

    The parameters are the settings `Learning` and `TransducerSettings`, with the same names,
    defaults and meanings, and `device` and `verbose` (show the progress, on standard error or in
    the notebook). They are checked by `fit`. After `fit` there are `tokens_`, which outputs are
    made of, `width_`, the width to decode with, and `history_`, one record per validation.

    >>> X, y = ["one", "two", "three"] * 3, ["1", "2", "3"] * 3
    >>> small = {"size": 16, "batch_size": 1, "dropout": 0.0}
    >>> transducer = BeamTransducer(width=2, epochs=6, learning_rate=0.03, **small)
    >>> transducer.fit(X, y).predict(["two"])
    ['2']
    """

    source_tokens: str = TRANSDUCER.source_tokens
    target_tokens: str = TRANSDUCER.target_tokens
    source_min_count: int = TRANSDUCER.source_min_count
    target_min_count: int = TRANSDUCER.target_min_count
    hf: str | None = TRANSDUCER.hf
    model: Literal["lstm", "transformer"] = TRANSDUCER.model
    size: int = TRANSDUCER.size
    layers: int = TRANSDUCER.layers
    heads: int = TRANSDUCER.heads
    feedforward: int = TRANSDUCER.feedforward
    cost: str = TRANSDUCER.cost
    insertion: float = TRANSDUCER.insertion
    deletion: float = TRANSDUCER.deletion
    substitution: float = TRANSDUCER.substitution
    length_factor: float = TRANSDUCER.length_factor
    length_extra: int = TRANSDUCER.length_extra
    finish: Literal["pad", "first"] = TRANSDUCER.finish
    length_power: float = TRANSDUCER.length_power
    length_bonus: float = TRANSDUCER.length_bonus
    dropout: float = TRANSDUCER.dropout
    accumulate: bool = TRANSDUCER.accumulate
    normalize: Literal["auto", "log_softmax", "none"] = TRANSDUCER.normalize
    _task: ClassVar[TaskSpec[Any, Any, Any]] = TRANSDUCTION

    def predict_confidence(self, X: Texts, width: int | None = None) -> list[float]:
        """For each output of `predict`, its share of the final beam."""
        return [found.confidence for found in self._decode(X, self._beam(width), 1)]

    def predict_matching(self, X: Texts, pattern: str, width: int | None = None) -> list[str]:
        """The best output for each string that matches a regular expression.

        Its letters are the tokens of outputs: characters, or words with spaces between them.
        `width` is `width_` unless given.
        """
        model, sources = self._require().model, texts_of(X, "X")
        allowed = matching(model, pattern)
        found = in_order(transduce(model, sources, self._beam(width), constraint=allowed))
        return [self._output(one.nbest[0]) for one in found]

    def score(self, X: Texts, y: References) -> float:
        """The share of outputs that are wholly right."""
        fitted = self._require()
        pairs = self._pairs(fitted.experiment, X, y)
        outputs = self.predict(pairs.sources)
        right = [text in right for text, right in compared(fitted.model, outputs, pairs.references)]
        return sum(right) / len(right)

    @property
    def tokens_(self) -> list[str]:
        """What outputs are made of, the most frequent first."""
        return list(self._require().model.symbols.target_tokens)

    def _pairs(
        self, experiment: Any, X: Texts, y: References, x_name: str = "X", y_name: str = "y"
    ) -> Pairs:
        return pairs_of(X, y, x_name, y_name)

    def _decode(self, X: Texts, width: int, n: int) -> list[Transduction]:
        return in_order(transduce(self._require().model, texts_of(X, "X"), width, nbest=n))

    def _output(self, way: Transduced) -> str:
        return way.output
