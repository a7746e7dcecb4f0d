"""BeamEstimator: what all estimators have in common."""
# ruff: noqa: N803 (X is scikit-learn's name)

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import index
from pathlib import Path
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    SupportsIndex,
    TypeVar,
    cast,
    get_args,
    runtime_checkable,
)

from rich.console import Console
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..check import check_choice, check_width
from ..data.text import DataError
from ..hub.download import run_folder
from ..learning.learn import Round
from ..tasks.data import DataSet
from ..tasks.decoding_width import measure_widths
from ..tasks.experiment import first_model, load, training_of
from ..tasks.lists import split
from ..tasks.settings import Experiment
from ..tasks.task import TaskSpec
from ..training.checkpointer import validation_record
from ..training.choices import Policy
from ..training.device import available
from ..training.progress import Display
from ..training.run import CONFIG, Run, RunError
from ..training.settings import Learning
from ..training.trainer import Training, Validation, Watcher
from ..training.trainer import fit as train
from .parameters import experiment_of, parameters_of

Given = TypeVar("Given")
"""What `X` is."""
Right = TypeVar("Right")
"""What `y` is."""
Output = TypeVar("Output")
"""What `predict` says of a sentence."""
Way = TypeVar("Way", covariant=True)
"""One entry of an n-best list."""
Told = TypeVar("Told")
"""What `evaluate` returns."""
Same = TypeVar("Same", bound="BeamEstimator[Any, Any, Any, Any, Any]")


LEARNING = Learning()
"""The defaults of the settings, which are those of the parameters."""


@dataclass(frozen=True)
class Fitted:
    """What `fit` and `load` leave behind."""

    model: Any
    experiment: Experiment
    history: list[dict[str, Any]]
    measured: dict[str, Any] | None = None
    """The width to decode with, and what it was chosen by, as a run folder keeps it."""

    @property
    def width(self) -> int:
        """The width to decode with."""
        trained = self.experiment.learning.decoding_width
        return trained if self.measured is None else int(self.measured["width"])


@runtime_checkable
class Found(Protocol[Way]):
    """What a model says of one sentence."""

    @property
    def nbest(self) -> Sequence[Way]:
        """Best first; at least one."""
        ...


@dataclass(kw_only=True, eq=False, repr=False)
class BeamEstimator(BaseEstimator, ABC, Generic[Given, Right, Output, Way, Told]):  # type: ignore[misc]  # scikit-learn has no types
    """A model that is trained with the beam that it decodes with.

    The parameters here are the settings `Learning`, and `device` and `verbose`. An estimator adds
    those of its model's settings, with the same names and defaults, and says how its data is
    read from lists and how it is decoded.
    """

    algorithm: str | None = None
    strategy: str | None = LEARNING.strategy
    loss: str | None = LEARNING.loss
    best: Literal["first", "best_scored", "all"] | None = LEARNING.best
    width: int | str | None = None
    beam_weight: float | str | None = None
    beam_start: float | None = LEARNING.beam_start
    beam_restart: float | None = LEARNING.beam_restart
    beam_every: int = LEARNING.beam_every
    final_width: int = LEARNING.final_width
    beta: float | str | None = None
    roll_out: str | None = LEARNING.roll_out
    roll_outs: int = LEARNING.roll_outs
    epochs: int = LEARNING.epochs
    batch_size: int = LEARNING.batch_size
    shards: int = LEARNING.shards
    reduction: Literal["sum", "mean"] = LEARNING.reduction
    optimizer: Literal["adam", "gradient", "leader"] = LEARNING.optimizer
    learning_rate: float | None = LEARNING.learning_rate
    schedule: Literal["constant", "linear", "cosine"] = LEARNING.schedule
    clip: float = LEARNING.clip
    radius: float | None = LEARNING.radius
    patience: int | None = LEARNING.patience
    seed: int = LEARNING.seed
    device: str = "cpu"
    verbose: bool = False
    _fitted: ClassVar[Fitted | None] = None
    """None on the class, for estimators that are not fitted; `fit` and `load` set it on theirs."""
    _task: ClassVar[TaskSpec[Any, Any, Any]]
    """The task."""

    @abstractmethod
    def _pairs(
        self, experiment: Any, X: Given, y: Right, x_name: str = "X", y_name: str = "y"
    ) -> DataSet:
        """Check sentences and what is right for them, and make a data set for an experiment."""

    @abstractmethod
    def _decode(self, X: Given, width: int, n: int) -> Sequence[Found[Way]]:
        """Check sentences, and find up to `n` outputs for each with a beam of `width`."""

    @abstractmethod
    def _output(self, way: Any) -> Output:
        """The best entry of an n-best list as `predict` returns it."""

    @abstractmethod
    def score(self, X: Given, y: Right) -> float:
        """How much of `y` is found, between 0 and 1."""

    def fit(
        self: Same, X: Given, y: Right, X_dev: Given | None = None, y_dev: Right | None = None
    ) -> Same:
        """Learn to answer the sentences `X` as `y` does; always from the start.

        The weights that are best on the dev sentences are kept. Without those every tenth
        sentence is held out instead. Sentences without words are left out.

        On the same sentences, or on a sample of them, wider beams are tried afterwards. The width
        to decode with, `width_`, is the smallest one, from that of training on, with a validation
        loss that is within 1 % of the lowest. So a model that is trained with a beam of 1, as by
        likelihood, is decoded with a wider one where that helps.
        """
        if y is None:  # scikit-learn's tools pass it on, and its checks look for these words
            raise DataError(
                f"This {type(self).__name__} requires y to be passed, but the target y is None; "
                "give what is right for each entry of `X`."
            )
        task = self._task
        experiment = experiment_of(task.experiment, self.get_params())
        train_set, dev_set = split(partial(self._pairs, experiment), X, y, X_dev, y_dev)
        model = first_model(task, experiment, train_set, available(self.device))
        training = training_of(
            task, model, train_set, dev_set, experiment.learning, warm=experiment.warm
        )
        history: list[dict[str, Any]] = []

        def remember(_: Training, event: Round | Validation) -> None:
            if isinstance(event, Validation):
                history.append(validation_record(event))

        watchers: list[Watcher] = [remember]
        with ExitStack() as shown:
            if self.verbose:
                console = Console(stderr=True)
                display = Display(
                    console, task.unit, lambda found: task.describe_validation(found, dev_set)
                )
                watchers.append(shown.enter_context(display))
            train(training, *watchers)
        found = measure_widths(
            task, model, dev_set, experiment.learning, seen=training.seen, narrower=False
        )
        measured = None if found is None else found.to_json()
        self._fitted = Fitted(model, experiment, history, measured)  # type: ignore[misc]  # on the instance
        return self

    def predict(self, X: Given, width: int | None = None) -> list[Output]:
        """The best output for each sentence; `width` is `width_` unless given."""
        decoded = self._decode(X, self._beam(width), 1)
        return [self._output(found.nbest[0]) for found in decoded]

    def predict_nbest(self, X: Given, n: int = 5, width: int | None = None) -> list[list[Way]]:
        """Up to `n` outputs for each sentence, best first, from a beam of at least `n`."""
        if isinstance(n, bool) or not isinstance(n, SupportsIndex) or index(n) < 1:
            raise ValueError(f"`n` must be a whole number of at least 1, got {n!r}.")
        decoded = self._decode(X, max(self._beam(width), n), n)
        return [list(found.nbest) for found in decoded]

    def evaluate(self, X: Given, y: Right, width: int | None = None) -> Told:
        """What `beamlearn evaluate` reports; `width` is `width_` unless given."""
        fitted = self._require()
        data = self._pairs(fitted.experiment, X, y)
        return cast(Told, self._task.report(fitted.model, data, self._beam(width)))

    def save(self, path: str | Path) -> None:
        """Write a run folder, which `load`, `beamlearn predict` and `beamlearn evaluate` read."""
        fitted = self._require()
        if (Path(path) / CONFIG).exists():
            raise RunError(f"{path} already holds a run; save to another folder, or delete it.")
        if fitted.model.mixture is not None:
            raise RunError(
                "A single model can be saved, got the mixture of several; copy the folder of its "
                "run instead."
            )
        config = fitted.experiment.model_dump(mode="json")
        run = Run.create(path, config, fitted.model.vocabulary())
        with run.lock():
            for record in fitted.history:
                run.log(record)
            run.save_model(fitted.model.scorer.state_dict())
            if fitted.measured is not None:
                run.save_decoding(fitted.measured)

    @classmethod
    def load(cls: type[Same], path: str | Path, device: str = "cpu") -> Same:
        """Read a run folder that `save` or `beamlearn train` wrote."""
        return cls.from_run(path, device)

    @classmethod
    def from_run(
        cls: type[Same], path: str | Path, device: str = "cpu", policy: Policy = "best"
    ) -> Same:
        """Read the run folder of a `beamlearn train`; `policy` is that of `beamlearn predict`.

        The parameters are the settings of the training, so `fit` repeats it on other data. A
        `path` that is `hub:USER/NAME` is a repository that `beamlearn push` wrote.
        """
        check_choice(policy, get_args(Policy), "policy")
        path = run_folder(path)
        model, experiment = load(cls._task, path, available(device), policy)
        run = Run.open(path)
        history = [record for record in run.rounds() if "epoch" in record]
        loaded = cls(**parameters_of(experiment), device=device)
        measured = run.load_decoding() if policy == "best" else None
        loaded._fitted = Fitted(model, experiment, history, measured)  # type: ignore[misc]  # there, too
        return loaded

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What each validation found; the one that was kept is the last with `best`."""
        return self._require().history

    @property
    def width_(self) -> int:
        """The width to decode with: as `fit` measured it."""
        return self._require().width

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def _require(self) -> Fitted:
        if self._fitted is None:
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} is not fitted yet; call `fit`, or get one with `{name}.load` or "
                f"`{name}.from_run`."
            )
        return self._fitted

    def _beam(self, width: int | None) -> int:
        """The width to decode with: `width_` unless given."""
        return self.width_ if width is None else check_width(width)
