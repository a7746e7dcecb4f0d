"""Trainings of parsers that are left, resumed, warm-started and loaded."""

import pytest
import torch
from tiny import contents, finish, part
from tiny_trees import begin, experiment, load, resume, sentences

from beamlearn.tasks.parsing.task import PARSING
from beamlearn.training.settings import SettingsError

KINDS = [
    {"system": "arc-hybrid", "word_dropout": 0.2},
    {"system": "covington", "history": "gru"},
    {"system": "arc-eager", "crossing": "lift", "encoder": "convolution", "history": "none"},
    {"system": "arc-standard", "crossing": "keep", "tags": "upos"},
]
pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.mark.slow
@pytest.mark.parametrize("network", KINDS, ids=[kind["system"] for kind in KINDS])
def test_left_and_resumed_it_ends_in_the_same_bytes(tmp_path, network):
    chosen = experiment(tmp_path, network=network, tagged=True)
    whole = finish(begin(chosen, tmp_path / "whole"))
    for events in (2, 4):
        run = tmp_path / str(events)
        part(begin(chosen, run), events)
        finish(resume(run))
        assert contents(run) == contents(tmp_path / "whole"), events
    parser, kept = load(tmp_path / "whole")
    assert kept == chosen.resolved() == whole.experiment
    assert not parser.scorer.training
    for name, tensor in whole.model.scorer.state_dict().items():
        assert torch.equal(parser.scorer.state_dict()[name], tensor)


def test_a_warm_start_needs_every_relation(tmp_path):
    finish(begin(experiment(tmp_path / "one", epochs=1), tmp_path / "run"))
    warm = experiment(tmp_path / "two", warm_start=tmp_path / "run", epochs=1)
    finish(begin(warm, tmp_path / "warm"))
    assert load(tmp_path / "warm")[0].lexicon == load(tmp_path / "run")[0].lexicon
    path = tmp_path / "two" / "train.conllu"
    path.write_text(path.read_text().replace("\tobj\t", "\tunheard\t"))
    with pytest.raises(SettingsError, match="must know every relation .* it has no 'unheard'"):
        begin(warm, tmp_path / "new")


def test_the_data_is_told_apart_by_everything_learned_from():
    data = sentences(5, tagged=True)
    assert len({d.digest for d in (data, data.take([0, 1]), sentences(5), sentences(5, 1))}) == 4
    assert data.take(range(5)).digest == sentences(5, tagged=True).digest


def test_judging_counts_right_arcs(tmp_path):
    prepared = begin(experiment(tmp_path, epochs=1), tmp_path / "run")
    *_, validation = prepared.training
    found = PARSING.report(prepared.model, prepared.validation, 3)
    words = sum(map(len, prepared.validation.words)) / len(prepared.validation)
    assert (
        prepared.describe_validation(validation.evaluation)
        == f"attachment {1 - found.cost / words:.2%}"
    )
