"""One training in several processes: the first has the folder, the others build theirs alike."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..learning.ranks import Ranks
from ..training.run.records import encode
from ..training.settings import SettingsError
from ..training.trainer import Training
from .experiment import Prepared, experiment_in, files_of, fingerprints, read_data, training_of
from .task import D, E, M, TaskSpec


def lead(ranks: Ranks, prepare: Callable[[], Prepared[E, D, M]]) -> Prepared[E, D, M]:
    """Prepare a training, and let the other processes `follow`."""
    with ranks.agreeing():
        prepared = prepare()
    run = prepared.checkpointer.run
    if ranks.count > 1:
        ranks.broadcast(encode({"config": run.config, "vocabulary": run.vocabulary}))
    with ranks.agreeing():
        pass  # the others build theirs
    prepared.training.join(ranks.group)
    return prepared


def follow(task: TaskSpec[E, D, M], ranks: Ranks, device: str) -> Training:
    """Build the training that the first process prepares, and take over its state."""
    with ranks.agreeing():
        pass  # the first one prepares its own
    told = json.loads(ranks.broadcast(b""))
    with ranks.agreeing():
        training = training_alike(task, told["config"], told["vocabulary"], device)
    training.join(ranks.group)
    return training


def training_alike(
    task: TaskSpec[E, D, M], config: Mapping[str, Any], vocabulary: Mapping[str, Any], device: str
) -> Training:
    """A training with the settings and symbols of another, and with the same data."""
    experiment = experiment_in(task, config, "config.json of the first process")
    train, dev = read_data(task, experiment)
    for name, digest in fingerprints(train, dev).items():
        if config[name] != digest:
            files = files_of(experiment)
            raise SettingsError(
                f"{files.train} and {files.dev or 'what is held out'} must be the same in all "
                "processes, got others on another machine; copy them, or use a shared folder."
            )
    model = task.rebuild(experiment, vocabulary, device)
    return training_of(task, model, train, dev, experiment.learning, warm=experiment.warm)
