"""Experiment: a tagger's data, settings and run folder; begun, resumed, and loaded again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import Tensor

from ...evaluate import Evaluation
from ...fit import Keeper
from ...run import CONFIG, MODEL, Run, RunError
from ...settings import Learning, Settings, SettingsError, parse
from ...training import Training, seed_of
from .lexicon import Lexicon
from .model import Tagger, scorer_of
from .sentences import DataSettings, Sentences, read_data
from .settings import TaggerSettings

TRAIN, VALIDATION = "fingerprint", "validation_fingerprint"


class Experiment(Settings):
    """Everything that a run is determined by."""

    task: Literal["tag"] = "tag"
    data: DataSettings | None
    """None: the tagger was fitted in memory."""
    tagger: TaggerSettings = TaggerSettings()
    learning: Learning = Learning()
    warm_start: str | None = None
    """A run folder whose weights are the first ones."""

    @property
    def column(self) -> str:
        """The column that is learned and predicted."""
        return "upos" if self.data is None else self.data.column

    def resolved(self) -> "Experiment":
        """The same with everything decided that was left to be found out.

        A warm start decides it by the tagger that it starts from.
        """
        if self.warm_start is not None:
            return self
        return self.model_copy(update={"tagger": self.tagger.resolved(self.learning)})


@dataclass(frozen=True)
class Prepared:
    """A training that is ready to run, and its folder."""

    experiment: Experiment
    tagger: Tagger
    training: Training
    keeper: Keeper
    validation: Sentences

    def judge(self, found: Evaluation) -> str:
        """A validation in words."""
        return judge(found, self.validation)


def judge(found: Evaluation, validation: Sentences) -> str:
    """What was found on the validation set, in words."""
    words = sum(map(len, validation.words))
    return f"accuracy {1 - float(found.costs.sum()) / words:.2%}"


def begin(experiment: Experiment, out: str | Path, device: str = "cpu") -> Prepared:
    """Set up a new training in a folder of its own."""
    experiment = experiment.resolved()
    train, dev = read_data(data_of(experiment))
    tagger = first_tagger(experiment, train, device)
    experiment = experiment.model_copy(update={"tagger": tagger.settings})
    config = {**experiment.model_dump(mode="json"), **fingerprints(train, dev)}
    run = Run.create(out, config, tagger.lexicon.to_json())
    prepared = prepare(experiment, tagger, train, dev, run)
    with run.lock():
        prepared.keeper.save(prepared.training)
    return prepared


def resume(out: str | Path, device: str = "cpu", report: Callable[[str], None] = print) -> Prepared:
    """Set up the training in a folder as it was left; `report` hears of damaged checkpoints."""
    run = Run.open(out)
    experiment = read_experiment(run)
    data = data_of(experiment)
    if "-" in (data.train, data.dev):
        raise RunError(
            f"The training in {out} was given standard input, which cannot be read again; train "
            "anew from a file, with another --out."
        )
    train, dev = read_data(data)
    for name, digest in fingerprints(train, dev).items():
        if run.config.get(name, digest) != digest:
            file = data.train if name == TRAIN or data.dev is None else data.dev
            raise RunError(
                f"{file} is not what the training in {out} began with; restore the "
                "file, or train anew with another --out."
            )
    with run.lock():  # going back changes files
        checkpoint = run.latest_checkpoint(report)
        if checkpoint is None and (run.path / MODEL).exists():
            raise RunError(
                f"{out} holds a model, but no checkpoint of its training to go on from; train anew "
                "with another --out."
            )
        if checkpoint is None:
            return prepare(experiment, first_tagger(experiment, train, device), train, dev, run)
        prepared = prepare(experiment, read_tagger(run, experiment, device), train, dev, run)
        prepared.keeper.go_back(prepared.training, checkpoint)
    return prepared


def fingerprints(train: Sentences, dev: Sentences) -> dict[str, str]:
    """What config.json holds beside the experiment, to notice that a file was changed."""
    return {TRAIN: train.digest, VALIDATION: dev.digest}


def load(path: str | Path, device: str = "cpu") -> tuple[Tagger, Experiment]:
    """The tagger that a training came to, and how."""
    run = Run.open(path)
    experiment = read_experiment(run)
    tagger = read_tagger(run, experiment, device)
    put_weights(tagger, run.load_model(), path)
    tagger.scorer.eval()
    return tagger, experiment


def prepare(
    experiment: Experiment, tagger: Tagger, train: Sentences, dev: Sentences, run: Run
) -> Prepared:
    """Put the parts of a training and its folder together."""
    training = training_of(tagger, train, dev, experiment.learning)
    return Prepared(experiment, tagger, training, Keeper(run), dev)


def training_of(tagger: Tagger, train: Sentences, dev: Sentences, learning: Learning) -> Training:
    """The training of a tagger on sentences, wherever they are from."""
    examples, validation = (
        [tagger.encode(words, tags) for words, tags in zip(s.words, s.tags, strict=True)]
        for s in (train, dev)
    )
    return Training(tagger, tagger.scorer, examples, validation, learning)


def first_tagger(experiment: Experiment, train: Sentences, device: str) -> Tagger:
    """The tagger before its first round: random, or with the weights of another run."""
    if experiment.warm_start is None:
        seed = seed_of(experiment.learning.seed, "weights", 0)
        return Tagger.build(experiment.tagger, train.words, train.tags, seed=seed, device=device)
    tagger, _ = load(experiment.warm_start, device)
    tagger = with_settings(tagger, taken_over(tagger.settings, experiment.tagger), device)
    missing = {tag for tags in train.tags for tag in tags} - set(tagger.lexicon.tags)
    if missing:
        raise SettingsError(
            f"`warm_start`: {experiment.warm_start} must know every tag of the training data, but "
            f"it has no {sorted(missing)[0]!r}; train it on the same data and column."
        )
    return tagger


def taken_over(kept: TaggerSettings, chosen: TaggerSettings) -> TaggerSettings:
    """The settings of a warm start: what its weights do not depend on can be chosen anew."""
    free = {"dropout", "accumulate", "normalize"}
    changed = {
        name: value
        for name in chosen.model_fields_set
        if (value := getattr(chosen, name)) not in (getattr(kept, name), "auto")
    }
    for name in changed.keys() - free:
        raise SettingsError(
            f"`{name}` must be {getattr(kept, name)!r} as in the run that is the warm start, but "
            f"{changed[name]!r} came; leave it out."
        )
    return kept.model_copy(update=changed)


def with_settings(tagger: Tagger, settings: TaggerSettings, device: str) -> Tagger:
    """The same tagger, weights and all, with other settings."""
    scorer = scorer_of(settings, tagger.lexicon)
    scorer.load_state_dict(tagger.scorer.state_dict())
    return Tagger(settings, tagger.lexicon, scorer, device)


def data_of(experiment: Experiment) -> DataSettings:
    """The files of an experiment that has some."""
    if experiment.data is None:
        raise SettingsError(
            "Training from files needs `data.train`, but this tagger was fitted in memory; give "
            "--train and another --out."
        )
    return experiment.data


def read_experiment(run: Run) -> Experiment:
    """The experiment that a run folder belongs to."""
    beside = (TRAIN, VALIDATION)
    config = {name: value for name, value in run.config.items() if name not in beside}
    return parse(Experiment, config, str(run.path / CONFIG))


def read_tagger(run: Run, experiment: Experiment, device: str) -> Tagger:
    """The tagger of a run folder, without its weights."""
    vocabulary = run.vocabulary
    try:
        lexicon = Lexicon.from_json(vocabulary)
        return Tagger(experiment.tagger, lexicon, scorer_of(experiment.tagger, lexicon), device)
    except (RuntimeError, ValueError):
        raise RunError(
            f"{run.path / 'vocabulary.json'} must hold the words and tags of the tagger in "
            "config.json, but some are missing or wrong; restore them from a copy."
        ) from None


def put_weights(tagger: Tagger, weights: Mapping[str, Tensor], path: str | Path) -> None:
    """Give a tagger the weights that were saved for it."""
    try:
        tagger.scorer.load_state_dict(dict(weights))
    except RuntimeError:
        raise RunError(
            f"The weights in {path} do not fit its config.json and vocabulary.json; one of them "
            "was changed: restore it from a copy."
        ) from None
