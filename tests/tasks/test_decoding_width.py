import json

import pytest
from tiny import begin, experiment, finish, load, part, resume, sentences

from beamlearn.estimators import BeamTagger
from beamlearn.tasks import decoding_width
from beamlearn.tasks.decoding_width import (
    default_width,
    measure_widths,
    measured_width,
    smallest_good_width,
)
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.training.run import Run, RunError
from beamlearn.training.settings import Learning


@pytest.mark.parametrize(
    ("losses", "trained", "chosen"),
    [
        ({1: 1.0, 2: 0.9, 4: 0.8, 8: 0.8}, 1, 4),
        ({1: 0.8, 2: 0.8, 4: 0.8}, 1, 1),
        ({1: 0.808, 8: 0.8}, 1, 1),
        ({1: 0.809, 8: 0.8}, 1, 8),
        ({1: 0.5, 8: 0.8, 16: 0.8}, 8, 8),
        ({1: 0.5, 8: 0.8, 16: 0.7}, 8, 16),
        ({1: 0.1, 2: 0.0, 4: 0.0}, 1, 2),
    ],
)
def test_the_smallest_width_that_is_about_as_good_as_the_best(losses, trained, chosen):
    assert smallest_good_width(losses, trained) == chosen


@pytest.fixture(scope="module")
def likelihood(tmp_path_factory):
    folder = tmp_path_factory.mktemp("likelihood")
    return finish(begin(experiment(folder, dev=9, width=1, epochs=1), folder / "run"))


def test_the_losses_are_those_that_choose_the_epoch(likelihood):
    model, data = likelihood.model, likelihood.validation
    found = measure_widths(TAGGING, model, data, Learning(width=3), seen=10**6)
    assert list(found.losses) == [1, 2, 3, 4, 8, 16]
    assert found.losses[3] == TAGGING.report(model, data, 3).evaluation.cost
    assert found.examples == 9
    assert found.to_json().keys() == {"width", "examples", "losses"}


def test_a_large_set_is_sampled(likelihood, monkeypatch):
    monkeypatch.setattr(decoding_width, "LEAST", 2)
    monkeypatch.setattr(decoding_width, "MOST", 4)
    data = sentences(8, seed=2)
    few, most = (
        measure_widths(
            TAGGING, likelihood.model, data, Learning(width=16), seen=seen, narrower=False
        )
        for seen in (0, 10**6)
    )
    assert (few.examples, most.examples) == (2, 4)
    every_other = TAGGING.report(likelihood.model, data.take([0, 2, 4, 6]), 16)
    assert most.losses == {16: every_other.evaluation.cost}


def test_lists_of_outputs_keep_their_beam(likelihood):
    learning = Learning(width=4, final_width=2)
    data = likelihood.validation
    assert measure_widths(TAGGING, likelihood.model, data, learning, seen=1) is None


def test_the_width_of_a_run_is_that_of_its_best_model(likelihood):
    run = likelihood.checkpointer.run
    assert measured_width(run.path) is None
    assert default_width(run.path, Learning(width=3)) == 3
    run.save_decoding({"width": 4, "examples": 9, "losses": {}})
    assert default_width(run.path, Learning(width=3)) == 4
    assert default_width(run.path, Learning(width=3), "average") == 3
    run.save_decoding({"width": 0})
    with pytest.raises(RunError, match=r"decoding.json: `width` must be .* got 0; delete this"):
        measured_width(run.path)


def test_an_interrupted_training_comes_to_the_same_file(tmp_path):
    from beamlearn.cli.jobs.train import decoding_widths

    whole = finish(begin(experiment(tmp_path / "a", dev=9, width=1, epochs=2), tmp_path / "whole"))
    part(begin(experiment(tmp_path / "b", dev=9, width=1, epochs=2), tmp_path / "cut"), 5)
    cut = finish(resume(tmp_path / "cut"))
    for prepared in (whole, cut):
        decoding_widths(prepared)
    files = [tmp_path / name / "decoding.json" for name in ("whole", "cut")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_an_estimator_decodes_with_the_width_that_it_measured(tmp_path, monkeypatch):
    data = sentences(20)
    monkeypatch.setattr(decoding_width, "smallest_good_width", lambda losses, trained: max(losses))
    tagger = BeamTagger(algorithm="log_likelihood", epochs=1, word_size=4, history_size=4)
    tagger.fit(data.words, data.tags)
    assert tagger.width_ == 16
    assert tagger.evaluate(data.words, data.tags).width == 16
    tagger.save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "decoding.json").read_text())["width"] == 16
    loaded = BeamTagger.load(tmp_path / "run")
    assert (loaded.width_, loaded.width) == (16, None)
    loaded.save(tmp_path / "again")
    assert BeamTagger.load(tmp_path / "again").width_ == 16
    assert Run.open(tmp_path / "again").config["learning"]["width"] is None


def test_an_estimator_from_a_folder_without_the_record(likelihood):
    (likelihood.checkpointer.run.path / "decoding.json").unlink(missing_ok=True)
    assert BeamTagger.load(likelihood.checkpointer.run.path).width_ == 1
    assert load(likelihood.checkpointer.run.path)[1].learning.decoding_width == 1
