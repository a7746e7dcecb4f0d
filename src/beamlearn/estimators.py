"""Estimators: fit and predict, as scikit-learn's do, and usable with its tools."""
# ruff: noqa: N803 (X is scikit-learn's name)

from contextlib import ExitStack
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, final

from rich.console import Console

from .check import check_width, unknown
from .device import available
from .display import Display
from .fit import Watcher, validation_record
from .fit import fit as train
from .learn import Round
from .run import CONFIG, Run, RunError
from .settings import Learning, Settings, parse
from .tasks.tagging import experiment as tagging
from .tasks.tagging.decode import Tagged, Tagging, in_order, tag
from .tasks.tagging.experiment import Experiment
from .tasks.tagging.lists import Lists, pairs_of, split, words_of
from .tasks.tagging.model import Tagger
from .tasks.tagging.report import TaggingReport, report
from .tasks.tagging.settings import TaggerSettings
from .training import Training, Validation


class NotFittedError(ValueError, AttributeError):
    """An estimator that is used before it is fitted; both classes, as scikit-learn's is."""


@dataclass(frozen=True)
class Fitted:
    """What `fit` and `load` leave behind."""

    tagger: Tagger
    experiment: Experiment
    history: list[dict[str, Any]]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BeamTagger:
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

    algorithm: str = "continue"
    strategy: str | None = None
    loss: str | None = None
    width: int | str | None = None
    beta: float | str | None = None
    epochs: int = 10
    batch_size: int = 32
    learning_rate: float = 3e-3
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    clip: float = 5.0
    patience: int | None = 5
    seed: int = 0
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
    device: str = "cpu"
    verbose: bool = False
    _fitted: Fitted | None = field(init=False, default=None)

    def fit(
        self, X: Lists, y: Lists, X_dev: Lists | None = None, y_dev: Lists | None = None
    ) -> "BeamTagger":
        """Learn to label each word of the sentences `X` as `y` does; always from the start.

        The weights that are best on the dev sentences are kept. Without those every tenth
        sentence is held out instead. Sentences without words are left out.
        """
        experiment = self._experiment()
        train_set, dev_set = split(X, y, X_dev, y_dev)
        tagger = tagging.first_tagger(experiment, train_set, available(self.device))
        training = tagging.training_of(tagger, train_set, dev_set, experiment.learning)
        fitted = Fitted(tagger, experiment, [])

        def remember(_: Training, event: Round | Validation) -> None:
            if isinstance(event, Validation):
                fitted.history.append(validation_record(event))

        watchers: list[Watcher] = [remember]
        with ExitStack() as shown:
            if self.verbose:
                console = Console(stderr=True)
                display = Display(console, "words", lambda found: tagging.judge(found, dev_set))
                watchers.append(shown.enter_context(display))
            train(training, *watchers)
        self._fitted = fitted
        return self

    def predict(self, X: Lists, width: int | None = None) -> list[list[str]]:
        """The best labels of each sentence; `width` is that of training unless given."""
        return [list(found.tags) for found in self._taggings(words_of(X, "X"), width)]

    def predict_nbest(self, X: Lists, n: int = 5, width: int | None = None) -> list[list[Tagged]]:
        """Up to `n` ways to label each sentence, best first, from a beam of at least `n`."""
        if n < 1:
            raise ValueError(f"`n` must be at least 1, but {n} came.")
        return [list(found.nbest) for found in self._taggings(words_of(X, "X"), width, n)]

    def predict_confidence(self, X: Lists, width: int | None = None) -> list[list[float]]:
        """For each label of `predict`, the share of the final beam that agrees with it."""
        return [list(found.confidence) for found in self._taggings(words_of(X, "X"), width)]

    def score(self, X: Lists, y: Lists) -> float:
        """The share of words that get their right label."""
        sentences = pairs_of(X, y)
        taggings = self._taggings(sentences.words)
        right = [
            a == b
            for gold, found in zip(sentences.tags, taggings, strict=True)
            for a, b in zip(gold, found.tags, strict=True)
        ]
        return sum(right) / len(right)

    def evaluate(self, X: Lists, y: Lists, width: int | None = None) -> TaggingReport:
        """What `beamlearn evaluate` reports; `width` is that of training unless given."""
        fitted, sentences = self._require(), pairs_of(X, y)
        width = fitted.experiment.learning.final_width if width is None else width
        return report(fitted.tagger, sentences.words, sentences.tags, width)

    def save(self, path: str | Path) -> None:
        """Write a run folder, which `load`, `beamlearn predict` and `beamlearn evaluate` read."""
        fitted = self._require()
        if (Path(path) / CONFIG).exists():
            raise RunError(f"{path} already holds a run; save to another folder, or delete it.")
        config = fitted.experiment.model_dump(mode="json")
        run = Run.create(path, config, fitted.tagger.lexicon.to_json())
        with run.lock():
            for record in fitted.history:
                run.log(record)
            run.save_model(fitted.tagger.scorer.state_dict())

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu") -> "BeamTagger":
        """Read a run folder that `save` or `beamlearn train tag` wrote."""
        tagger, experiment = tagging.load(path, available(device))
        history = [record for record in Run.open(path).rounds() if "epoch" in record]
        loaded = cls(**parameters_of(experiment), device=device)
        loaded._fitted = Fitted(tagger, experiment, history)
        return loaded

    @property
    def classes_(self) -> list[str]:
        """The labels, sorted."""
        return list(self._require().tagger.lexicon.tags)

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What each validation found; the one that was kept is the last with `best`."""
        return self._require().history

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; none of them has parameters of its own, so `deep` changes nothing."""
        return {parameter.name: getattr(self, parameter.name) for parameter in parameters()}

    def set_params(self, **values: Any) -> "BeamTagger":
        """Change parameters; what is fitted stays as it is until the next `fit`."""
        known = [parameter.name for parameter in parameters()]
        for name in values:
            if name not in known:
                raise ValueError(unknown(known, name, "parameter"))
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        values = self.get_params()
        changed = [p.name for p in parameters() if values[p.name] != p.default]
        return f"BeamTagger({', '.join(f'{name}={values[name]!r}' for name in changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def __sklearn_tags__(self) -> SimpleNamespace:
        """What scikit-learn asks estimators for: its `Tags`, without the need to have it.

        Not a classifier in its sense, as that has one label per example.
        """
        names = "one_d_array two_d_array three_d_array sparse categorical string dict"
        inputs = dict.fromkeys([*names.split(), "positive_only", "allow_nan", "pairwise"], False)
        names = "one_d_labels two_d_labels positive_only multi_output single_output"
        return SimpleNamespace(
            estimator_type=None,
            target_tags=SimpleNamespace(required=True, **dict.fromkeys(names.split(), False)),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=None,
            array_api_support=False,
            no_validation=False,
            non_deterministic=False,
            requires_fit=True,
            _skip_test=True,
            input_tags=SimpleNamespace(**inputs),
        )

    def _experiment(self) -> Experiment:
        """The parameters, checked."""

        def chosen(group: type[Settings]) -> dict[str, Any]:
            return {name: getattr(self, name) for name in group.model_fields}

        learning = parse(Learning, chosen(Learning))
        settings = parse(TaggerSettings, chosen(TaggerSettings))
        return Experiment(data=None, tagger=settings, learning=learning).resolved()

    def _require(self) -> Fitted:
        if self._fitted is None:
            raise NotFittedError(
                "This BeamTagger is not fitted yet; call `fit`, or get one with `BeamTagger.load`."
            )
        return self._fitted

    def _taggings(
        self, words: list[list[str]], width: int | None = None, n: int = 1
    ) -> list[Tagging]:
        """The taggings of sentences in their order."""
        fitted = self._require()
        width = fitted.experiment.learning.final_width if width is None else check_width(width)
        return in_order(tag(fitted.tagger, words, max(width, n), nbest=n))


def parameters() -> list[Field[Any]]:
    """The parameters of a BeamTagger and their defaults."""
    return [parameter for parameter in fields(BeamTagger) if parameter.init]


def parameters_of(experiment: Experiment) -> dict[str, Any]:
    """The parameters that lead to an experiment; what `auto` comes to is `auto` again."""
    learning, settings = experiment.learning, experiment.tagger
    automatic = settings.model_copy(update={"normalize": "auto"})
    if automatic.resolved(learning) == settings:
        settings = automatic
    ramps = {"width": number(learning.width, int), "beta": number(learning.beta, float)}
    return {**learning.model_dump(), **settings.model_dump(), **ramps}


def number(text: str | None, kind: type[int] | type[float]) -> float | str | None:
    """A setting that is written as text, as the number it is; `first:last` stays text."""
    return text if text is None or ":" in text else kind(text)
