import io
import json

import pytest
from tiny import conllu, sentences
from tiny_reports import SMALL, beamlearn_run, write_files

from beamlearn.cli.jobs import diagnose as job
from beamlearn.cli.jobs.diagnose import closing_line
from beamlearn.evaluation.diagnosis import Diagnosis
from beamlearn.tasks import decoding_width
from beamlearn.tasks.loading import load
from beamlearn.tasks.registry import task_named


@pytest.fixture(autouse=True)
def quick(no_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def train(folder, *more):
    files, out = write_files(folder), folder / "run"
    given = ("--train", files["train"], "--dev", files["dev"], "--epochs", 2)
    assert beamlearn_run("train", "tag", *given, *SMALL, *more, "--out", out) == 0
    return out


@pytest.fixture(scope="module")
def greedy(module_without_shape_checks, tmp_path_factory):
    return train(tmp_path_factory.mktemp("greedy"), "--algorithm", "log_likelihood")


def diagnosed(run, capsys, *more):
    capsys.readouterr()
    assert beamlearn_run("diagnose", run, run.parent / "test.conllu", *more, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_help_has_an_example(capsys):
    assert beamlearn_run("diagnose", "--help") == 0
    assert "beamlearn diagnose runs/" in capsys.readouterr().out


def test_json_is_one_object_with_what_evaluate_finds(greedy, capsys):
    found = diagnosed(greedy, capsys)
    assert (found["task"], found["examples"], found["metric"]) == ("tag", 14, "accuracy")
    assert [row["width"] for row in found["widths"]] == [1, 2, 4, 8, 16, 32]
    assert found["verdict"]["width"] == 8
    assert not found["verdict"]["signs"]["sees_all"]
    assert found["wider"]["width"] == 128
    test = greedy.parent / "test.conllu"
    assert beamlearn_run("evaluate", greedy, test, "--width", "1,2,4,8", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    for row, known in zip(found["widths"], rows, strict=False):
        assert row["accuracy"] == known["accuracy"]
        assert row["cost"] == pytest.approx(known["cost"])
        assert row["right"] + row["listed"] + row["fallen"] == 14
        wrong = row["search_errors"] + row["model_errors"]
        if wrong:
            assert row["search_errors"] / wrong == pytest.approx(known["search_error_rate"])


def test_a_table_and_sentences(greedy, capsys):
    test = greedy.parent / "test.conllu"
    assert beamlearn_run("diagnose", greedy, test, "--widths", "8,1,1") == 0
    text = capsys.readouterr().out
    assert "beam 1 " in text
    assert "beam 8 " in text
    assert "fell out of the beam" in text
    assert "With a beam of 8, the best reachable output falls out of the beam in " in text
    assert "What an exact search would change (by a beam of 128 on 14 examples" in text
    assert "Basis: a beam of 8 in testing alone removes " in text


def test_some_examples(greedy, capsys):
    found = diagnosed(greedy, capsys, "--limit", 5, "--widths", "1,8")
    assert found["examples"] == found["wider"]["examples"] == 5
    assert sum(found["widths"][0][name] for name in ("right", "listed", "fallen")) == 5
    assert diagnosed(greedy, capsys, "--limit", 50, "--widths", "1")["examples"] == 14


def test_widths_that_make_no_verdict(greedy, capsys):
    found = diagnosed(greedy, capsys, "--widths", "4")
    assert found["verdict"] is None
    assert diagnosed(greedy, capsys, "--widths", "1,128")["wider"] is None  # wide enough


def test_a_wide_search_is_bounded(greedy, capsys, monkeypatch):
    monkeypatch.setattr(job, "NEIGHBORS", 1000)
    assert diagnosed(greedy, capsys, "--widths", "1,8")["wider"]["width"] < 128
    monkeypatch.setattr(job, "NEIGHBORS", 10)
    assert diagnosed(greedy, capsys, "--widths", "1,8")["wider"] is None
    monkeypatch.undo()
    monkeypatch.setattr(job, "HYPOTHESES", 1200)
    assert diagnosed(greedy, capsys, "--widths", "1,8")["wider"]["examples"] < 14


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--widths", "0"), "--widths must be whole numbers of at least 1"),
        (("--references", "one"), "--references is no option for the task"),
    ],
)
def test_refused(greedy, capsys, more, message):
    assert beamlearn_run("diagnose", greedy, greedy.parent / "test.conllu", *more) == 2
    assert message in capsys.readouterr().err


def test_a_run_that_was_trained_with_a_beam(tmp_path, capsys):
    run = train(tmp_path, "--width", 2)
    told = capsys.readouterr().err
    assert "With a beam of 2, the best reachable output falls out of the beam in " in told
    assert "Training with the beam" not in told
    found = diagnosed(run, capsys, "--widths", "1,8")
    assert found["verdict"]["verdict"] == "trained with it"


def test_the_end_of_a_training(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(decoding_width, "MOST", 6)
    train(tmp_path, "--algorithm", "log_likelihood")
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "reachable" in one]
    assert line.startswith("With a beam of 8, the best reachable output falls out of the beam in ")
    assert " of 6 validation examples" in line
    assert " Training with the beam " in line


def test_the_line_is_about_the_searches_that_were_made(greedy):
    model, _ = load(greedy)
    task, data = task_named("tag"), sentences(9, seed=1)
    reports = [task.report(model, data, width) for width in (1, 8)]
    line = closing_line(task, model, reports, 1)
    found = Diagnosis.of(8, reports[1].evaluation)
    assert f"in {100 * found.share('fallen'):.1f} % of 9 validation examples" in line


def test_standard_input_is_read_once(greedy, capsys, monkeypatch, tmp_path):
    conllu(tmp_path / "some.conllu", sentences(3))
    text = io.BytesIO((tmp_path / "some.conllu").read_bytes())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(text))
    capsys.readouterr()
    assert beamlearn_run("diagnose", greedy, "-", "--widths", "1,2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 3
