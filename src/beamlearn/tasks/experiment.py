"""Experiments of any task: begun in a run folder, resumed, and loaded again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from torch import Tensor

from ..data.kept import discard
from ..evaluation.evaluate import Evaluation
from ..learning.iterates import Mixture, split_states
from ..learning.seeds import seed_of
from ..training.checkpointer import Checkpointer
from ..training.run import CONFIG, MODEL, VOCABULARY, Policy, Run, RunError, Trace
from ..training.settings import Learning, SettingsError, parse
from ..training.trainer import Judgment, Training
from .data import DataSet
from .settings import Experiment, Files, ModelSettings
from .task import D, E, M, Model, TaskSpec

TRAIN, VALIDATION = "fingerprint", "validation_fingerprint"


@dataclass(frozen=True)
class Prepared(Generic[E, D, M]):
    """A training that is ready to run, and its folder."""

    task: TaskSpec[E, D, M]
    experiment: E
    model: M
    training: Training
    checkpointer: Checkpointer
    validation: D
    cache: Path
    """Where the training sentences are kept if their file is large."""

    def describe_validation(self, found: Evaluation) -> str:
        """A validation in words."""
        return self.task.describe_validation(found, self.validation)

    def discard_cache(self) -> None:
        """Remove what only the training needs, when it is over."""
        discard(self.cache)


def begin(
    task: TaskSpec[E, D, M],
    experiment: E,
    out: str | Path,
    device: str = "cpu",
    cache: Path | None = None,
) -> Prepared[E, D, M]:
    """Set up a new training in a folder of its own.

    `cache` is the folder for a large training file; by default it is beside `out`.
    """
    experiment = inherited(task, experiment.resolved())
    cache = cache or cache_of(out)
    train, dev = read_data(task, experiment, cache)
    model = first_model(task, experiment, train, device)
    # What cannot be learned from is refused before there is a folder.
    training = training_of(task, model, train, dev, experiment.learning, warm=experiment.warm)
    config = {**experiment.model_dump(mode="json"), **fingerprints(train, dev)}
    run = Run.create(out, config, model.vocabulary())
    checkpointer = Checkpointer(run, left=Trace())
    with checkpointer.held():
        checkpointer.save(training)
    return Prepared(task, experiment, model, training, checkpointer, dev, cache)


def resume(
    task: TaskSpec[E, D, M],
    out: str | Path,
    device: str = "cpu",
    report: Callable[[str], None] = print,
    cache: Path | None = None,
) -> Prepared[E, D, M]:
    """Set up the training in a folder as it was left; `report` hears of damaged checkpoints."""
    run = Run.open(out)
    experiment = read_experiment(task, run)
    cache = cache or cache_of(out)
    train, dev = read_again(task, experiment, run, cache)
    with run.lock():  # going back changes files
        checkpoint = run.latest_checkpoint(report)
        if checkpoint is None and (run.path / MODEL).exists():
            raise RunError(
                f"{out} holds a model, but no checkpoint of its training to go on from; train in "
                "another folder.",
                "out",
            )
        if checkpoint is None:
            model = first_model(task, experiment, train, device)
            return prepare(task, experiment, model, train, dev, run, cache)
        model = read_model(task, run, experiment, device)
        prepared = prepare(task, experiment, model, train, dev, run, cache)
        prepared.checkpointer.go_back(prepared.training, checkpoint)
    return prepared


def load(
    task: TaskSpec[E, D, M], path: str | Path, device: str = "cpu", policy: Policy = "best"
) -> tuple[M, E]:
    """The model that a training came to, and how; the best one, or with another policy."""
    run = Run.open(path)
    experiment = read_experiment(task, run)
    model = read_model(task, run, experiment, device)
    best = run.load_model()
    put_weights(model, best, path)
    weights = best if policy == "best" else run.load_model(policy)
    if policy == "mixture":
        iterates = list(split_states(weights).values())
        model.mixture = Mixture(model.scorer, iterates, experiment.learning.seed)
    elif policy != "best":
        put_weights(model, {**model.scorer.state_dict(), **weights}, path)
    model.scorer.eval()
    return model, experiment


def cache_of(out: str | Path) -> Path:
    """The folder for a large training file, beside that of the run."""
    out = Path(out).absolute()
    return out.with_name(f"{out.name}.cache")


def read_data(task: TaskSpec[E, D, M], experiment: E, cache: Path | None = None) -> tuple[D, D]:
    """The sentences to learn from and those to validate on; large ones are kept in `cache`."""
    return task.split(files_of(experiment), experiment, cache)


def read_again(
    task: TaskSpec[E, D, M], experiment: E, run: Run, cache: Path | None = None
) -> tuple[D, D]:
    """The same sentences as when the training in a run folder began."""
    files = files_of(experiment)
    if "-" in (files.train, files.dev):
        raise RunError(
            f"The training in {run.path} was given standard input, which cannot be read again; "
            "train from a file, in another folder.",
            "train",
            "out",
        )
    train, dev = read_data(task, experiment, cache)
    for name, digest in fingerprints(train, dev).items():
        if run.config.get(name, digest) != digest:
            file = files.train if name == TRAIN or files.dev is None else files.dev
            raise RunError(
                f"{file} is not what the training in {run.path} began with; restore the file, or "
                "train in another folder.",
                "out",
            )
    return train, dev


def fingerprints(train: DataSet, dev: DataSet) -> dict[str, str]:
    """What config.json holds beside the experiment, to notice that a file was changed."""
    return {TRAIN: train.digest, VALIDATION: dev.digest}


def prepare(
    task: TaskSpec[E, D, M], experiment: E, model: M, train: D, dev: D, run: Run, cache: Path
) -> Prepared[E, D, M]:
    """Put the parts of a training and its folder together."""
    training = training_of(task, model, train, dev, experiment.learning, warm=experiment.warm)
    return Prepared(task, experiment, model, training, Checkpointer(run), dev, cache)


def training_of(
    task: TaskSpec[E, D, M],
    model: M,
    train: D,
    dev: D,
    learning: Learning,
    *,
    warm: bool = False,
    trajectories: bool = False,
) -> Training:
    """The training of a model on data, wherever it is from; is its model a `warm` start?"""
    examples, validation = (task.examples(model, data) for data in (train, dev))

    def judge(found: Evaluation) -> Judgment:
        scores = task.validation_scores(model, dev, learning.decoding_width)
        return Judgment(task.validation_loss(model, found, scores), scores)

    return Training(
        model,
        model.scorer,
        examples,
        validation,
        learning,
        judge=judge,
        warm=warm,
        trajectories=trajectories,
    )


def inherited(task: TaskSpec[E, D, M], experiment: E) -> E:
    """The same with the settings that come with the weights of a warm start."""
    if experiment.warm_start is None:
        return experiment
    if experiment.settings.pretrained:
        raise SettingsError(
            "`warm_start` and `hf` must not be given together, as each names the first weights; "
            "leave out `hf` to go on from the run, or `warm_start` to begin with the model again.",
            "warm_start",
            "hf",
        )
    kept = read_experiment(task, Run.open(experiment.warm_start))
    return experiment.with_settings(taken_over(kept.settings, experiment.settings)).decided()


def first_model(task: TaskSpec[E, D, M], experiment: E, train: D, device: str) -> M:
    """The model before its first round: random, or with the weights of another run.

    In an experiment with a warm start, the settings are `inherited`.
    """
    source = experiment.warm_start
    if source is None:
        seed = seed_of(experiment.learning.seed, "weights", 0)
        return task.build(experiment, train, seed, device)
    run = Run.open(source)
    model = read_model(task, run, experiment, device)
    put_weights(model, run.load_model(), source)
    task.check_warm_start(model, train, source)
    return model


def taken_over(kept: ModelSettings, chosen: ModelSettings) -> ModelSettings:
    """The settings of a warm start: what its weights do not depend on can be chosen again."""
    changed = {
        name: value
        for name in chosen.model_fields_set
        if (value := getattr(chosen, name)) not in (getattr(kept, name), "auto")
    }
    for name in changed.keys() - chosen.free:
        raise SettingsError(
            f"`{name}` must be {getattr(kept, name)!r} as in the run that is the warm start, got "
            f"{changed[name]!r}; leave it out."
        )
    return parse(type(kept), {**kept.model_dump(), **changed})


def files_of(experiment: Experiment) -> Files:
    """The files of an experiment that has some."""
    if experiment.data is None:
        raise SettingsError(
            f"Training from files needs `data.train`, but this {experiment.group} was fitted in "
            "memory; name a file, and another folder.",
            "train",
            "out",
        )
    return experiment.data


def from_hugging_face(run: Run) -> bool:
    """Is it the folder of a Hugging Face model, not that of a training?"""
    return "task" not in run.config and "model_type" in run.config


def check_trained_here(run: Run) -> None:
    """Refuse the folder of a Hugging Face model."""
    if from_hugging_face(run):
        raise RunError(
            f"{run.path} must be a run folder, but it is that of a Hugging Face model; fine-tune "
            "it, with `hf`."
        )


def read_experiment(task: TaskSpec[E, D, M], run: Run) -> E:
    """The experiment that a run folder belongs to."""
    check_trained_here(run)
    name = run.config.get("task", task.name)
    if name != task.name:
        raise SettingsError(
            f"{run.path / CONFIG}: `task` must be {task.name!r}, got {name!r}; give the folder of "
            "another run."
        )
    return experiment_in(task, run.config, str(run.path / CONFIG))


def experiment_in(task: TaskSpec[E, D, M], config: Mapping[str, Any], source: str) -> E:
    """The experiment in the config.json of a run."""
    beside = (TRAIN, VALIDATION)
    settings = {name: value for name, value in config.items() if name not in beside}
    return parse(task.experiment, task.experiment.upgraded(settings), source)


def read_model(task: TaskSpec[E, D, M], run: Run, experiment: E, device: str) -> M:
    """The model of a run folder, without its weights."""
    vocabulary = run.vocabulary
    try:
        return task.rebuild(experiment, vocabulary, device)
    except SettingsError:  # a package is missing
        raise
    except (RuntimeError, ValueError):
        raise RunError(
            f"{run.path / VOCABULARY} must hold the {task.symbols} of the {experiment.group} in "
            "config.json, but some are missing or wrong; restore them from a copy."
        ) from None


def put_weights(model: Model, weights: Mapping[str, Tensor], path: str | Path) -> None:
    """Give a model the weights that were saved for it."""
    try:
        model.scorer.load_state_dict(dict(weights))
    except RuntimeError:
        raise RunError(
            f"The weights in {path} do not fit its config.json and vocabulary.json; one of them "
            "was changed: restore it from a copy."
        ) from None
