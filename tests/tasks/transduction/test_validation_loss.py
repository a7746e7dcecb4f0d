from types import SimpleNamespace

import pytest
import torch

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.tasks.transduction.settings import TransducerSettings
from beamlearn.tasks.transduction.task import TRANSDUCTION

COSTS = torch.tensor([0.0, 3.0, 1.0, 0.0])
FOUND = Evaluation(COSTS, COSTS, torch.zeros(4, dtype=torch.long))


@pytest.mark.parametrize(
    ("settings", "loss"),
    [
        ({}, 0.5),
        ({"cost": "hamming"}, 0.5),
        ({"cost": "chrf"}, 1.0),
        ({"target_tokens": "words"}, 1.0),
        ({"hf": "folder"}, 1.0),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_outputs_are_chosen_by_how_many_are_wrong_or_by_their_cost(settings, loss):
    model = SimpleNamespace(settings=TransducerSettings(**settings))
    assert TRANSDUCTION.validation_loss(model, FOUND, {}) == loss
