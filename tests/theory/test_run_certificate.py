"""Which theorems are stated of a run."""

from pathlib import Path

import pytest
import taggers
import tiny_pairs
import tiny_trees

from beamlearn.tasks.parsing.task import ParsingTask
from beamlearn.tasks.settings import Experiment
from beamlearn.tasks.tagging.task import TaggingTask
from beamlearn.tasks.transduction.task import TransductionTask
from beamlearn.theory.run_certificate import RunCertificate
from beamlearn.theory.run_losses import LoggedLosses
from beamlearn.training.run import Run
from beamlearn.training.settings import Learning

SUMMED = {"loss": "upper_bound", "reduction": "sum"}


def certified(kind, model, optima=(0.0, 0.0), **learning):
    logged = LoggedLosses((1, 2), (0.5, 1.0), (0.0, 1.0), optima, (3, 3), None, None)
    experiment = Experiment.model_construct(learning=Learning(**{**SUMMED, **learning}))
    return RunCertificate(Run(Path("run"), {}), kind, experiment, model, logged, logged.horizon)


@pytest.mark.parametrize(
    ("kind", "small", "settings", "exact"),
    [
        (TaggingTask(), taggers.small, {}, True),
        *((ParsingTask(), tiny_trees.small, {"system": s}, True) for s in tiny_trees.SYSTEMS),
        *((TransductionTask(), tiny_pairs.small, {"cost": c}, True) for c in ("edit", "hamming")),
        *((TransductionTask(), tiny_pairs.small, {"cost": c}, False) for c in ("bleu", "chrf")),
    ],
)
def test_costs_are_bounded_where_the_oracle_is_exact(kind, small, settings, exact):
    run = certified(kind, small(**settings))
    assert run.exact == exact
    assert (run.cost(run.certificate(2.0)) is not None) == exact


@pytest.mark.parametrize(
    "changes", [{"reduction": "mean"}, {"loss": "log_loss_neighbors"}, {"optima": (0.0, 1.0)}]
)
def test_costs_are_not_bounded(changes):
    run = certified(TaggingTask(), taggers.small(), **changes)
    assert run.cost(run.certificate(2.0)) is None
