"""The fingerprint of a model, so that answers of two models are never mixed."""

import json

from ..data.tensors import digest, own
from ..learning.iterates import join_states
from ..tasks.settings import Experiment
from ..tasks.task import Model


def model_digest(model: Model, experiment: Experiment) -> str:
    """A digest of weights, symbols and settings."""
    tensors = model.scorer.state_dict()
    if model.mixture is not None:
        states = {number: dict(state) for number, state in enumerate(model.mixture.iterates)}
        tensors = {**tensors, **join_states(states)}
    made = {"settings": model.settings.model_dump(mode="json"), "symbols": model.vocabulary()}
    note = json.dumps({"task": experiment.task, **made}, sort_keys=True)
    return digest({name: own(value) for name, value in tensors.items()}, note)
