"""A task of one's own through the one place where tasks register, and every command on it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import begin, finish, part
from tiny import experiment as tagging_experiment
from tiny_pairs import experiment as transduction_experiment

from beamlearn import BeamTagger
from beamlearn.cli.main import run as beamlearn
from beamlearn.comparison.runner import Entry, run_entry
from beamlearn.learning.ramp import Ramp
from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.loading import load
from beamlearn.tasks.registry import TASKS, task_named
from beamlearn.tasks.settings import Files
from beamlearn.tasks.task import DataSet, Model
from beamlearn.training.run import RunError
from beamlearn.training.settings import Learning, SettingsError

pytestmark = pytest.mark.usefixtures("no_shape_checks")
WORDS = ["badce", "ecadb", "dcbea", "abecd", "cab", "bad", "deca", "ace", "bead", "dab"]


@pytest.fixture
def sort(monkeypatch):
    """The task of `toy_task`, registered for one test."""
    monkeypatch.setattr("beamlearn.tasks.registry.TASKS", TASKS)  # undone after the test
    before = dict(TASKS)
    import toy_task

    TASKS["sort"] = toy_task.TaskEntry(
        "sort", "a sorter of letters", toy_task.SortingExperiment, toy_task.SORTING, "txt", ()
    )
    yield toy_task.SORTING
    TASKS.clear()
    TASKS.update(before)
    TASKS.pop("sort", None)


def words(path, lines=WORDS):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def experiment(folder, **changes):
    import toy_task

    folder.mkdir(exist_ok=True)
    values = {
        "data": Files(train=words(folder / "train.txt")),
        "learning": Learning(width=Ramp(2, 2), epochs=2, batch_size=4, learning_rate=0.1),
    }
    return toy_task.SortingExperiment(**{**values, **changes})


def test_names_agree():
    for name, entry in TASKS.items():
        task = entry.load()
        assert name == entry.name == task.name == entry.experiment.model_fields["task"].default
        assert entry.experiment is task.experiment
        assert entry.experiment.group in entry.experiment.model_fields
        assert task.columns
        assert task.metrics
    assert list(TASKS) == ["tag", "parse", "transduce", "rank"]


def test_a_task_by_name():
    assert task_named("tag").name == "tag"
    with pytest.raises(ValueError, match="There is no task called 'tagg'. Did you mean 'tag'?"):
        task_named("tagg")


def test_another_task_is_trained_resumed_and_loaded(sort, tmp_path):
    chosen = experiment(tmp_path)
    prepared = experiments.begin(sort, chosen, tmp_path / "run")
    assert isinstance(prepared.model, Model)
    assert isinstance(prepared.validation, DataSet)
    part(prepared, 2)
    prepared = finish(experiments.resume(sort, tmp_path / "run"))
    *_, found = experiments.begin(sort, chosen, tmp_path / "other").training
    assert prepared.describe_validation(found.evaluation).endswith("words not sorted")
    model, kept = load(tmp_path / "run")
    assert kept == chosen.resolved()
    assert not model.scorer.training


def test_another_task_has_its_own_words_in_messages(sort, tmp_path):
    with pytest.raises(SettingsError, match="but this sorter was fitted in memory"):
        experiments.begin(sort, experiment(tmp_path, data=None), tmp_path / "new")


def test_tasks_are_not_mixed_up(sort, tmp_path):
    finish(begin(tagging_experiment(tmp_path), tmp_path / "tag"))
    finish(experiments.begin(sort, experiment(tmp_path), tmp_path / "sort"))
    warm = experiment(tmp_path, warm_start=str(tmp_path / "tag"))
    with pytest.raises(SettingsError, match="tag/config.json: `task` must be 'sort', got 'tag'"):
        experiments.begin(sort, warm, tmp_path / "new")
    with pytest.raises(SettingsError, match="sort/config.json: `task` must be 'tag', got 'sort'"):
        BeamTagger.load(tmp_path / "sort")
    assert load(tmp_path / "sort")[1].task == "sort"
    assert load(tmp_path / "tag")[1].task == "tag"


@pytest.mark.parametrize("name", ["tagg", None, ["tag"]])
def test_a_task_that_does_not_exist(tmp_path, name):
    begin(tagging_experiment(tmp_path), tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "task": name}))
    with pytest.raises(RunError, match=r"run/config.json: There is no task called .* Known: tag"):
        load(tmp_path / "run")


def test_transduction_is_loaded_and_compared_like_the_others(tmp_path):
    chosen = transduction_experiment(tmp_path, epochs=1)
    entry = Entry("a", chosen, (1, 2), chosen.data.train)
    assert [result["width"] for result in run_entry(entry, tmp_path / "run")] == [1, 2]
    model, kept = load(tmp_path / "run")
    assert isinstance(model, Model)
    assert (kept.task, kept) == ("transduce", chosen.resolved())
    with pytest.raises(SettingsError, match="`task` must be 'tag', got 'transduce'"):
        BeamTagger.load(tmp_path / "run")


@pytest.mark.slow
def test_every_command_works_on_another_task(sort, tmp_path, capsys):
    out, train = str(tmp_path / "run"), words(tmp_path / "train.txt")
    test = words(tmp_path / "test.txt", ["edcba", "bca"])
    options = ["--train", train, "--dev", test, "--epochs", "3", "--learning-rate", "0.1"]

    assert beamlearn(["train", "sort", *options, "--width", "4", "--out", out]) == 0
    shown = capsys.readouterr().err
    assert "10 words, " in shown
    assert "words not sorted" in shown
    assert "validation, beam 4: sorted " in shown
    assert beamlearn(["train", "sort", "--column", "xpos", "--out", out]) == 2
    assert "No such option" in capsys.readouterr().err

    assert beamlearn(["predict", out, test]) == 0
    assert [sorted(line) for line in capsys.readouterr().out.split()] == [[*"abcde"], [*"abc"]]
    assert beamlearn(["predict", out, test, "--column", "upos"]) == 2
    refused = " ".join(capsys.readouterr().err.split())
    assert refused.startswith(f"--column is no option for the task of {out}, which is 'sort'")

    assert beamlearn(["evaluate", out, test]) == 0
    assert "sorted words" in capsys.readouterr().out
    assert beamlearn(["evaluate", out, test, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "sort"
    assert beamlearn(["evaluate", out, test, "--json", "--width", "1", "--errors"]) == 0
    (errors,) = json.loads(capsys.readouterr().out)["errors"]
    assert set(errors) == {"width", "worst"}  # its reports say nothing of labels

    assert beamlearn(["diagnose", out, test, "--widths", "1,8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["metric"], found["verdict"]["verdict"]) == ("sorted", "trained with it")
    assert "exhaustive search" in found["wider"]["way"]
    assert beamlearn(["inspect", out, test, "--text", "--width", "2"]) == 0
    assert "e d c b a" in capsys.readouterr().out
    assert beamlearn(["inspect", out, "--text", "--typed", "a word"]) == 2
    assert "The task 'sort' takes no typed input; give a file." in capsys.readouterr().err

    assert beamlearn(["report", out, "--widths", "1,2"]) == 0
    assert "sorted words" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_another_task_is_compared_in_processes_of_its_own(tmp_path):
    """The processes that train know the task, as they load the module that registers it."""
    script = (
        "import sys, toy_task; from beamlearn.cli.main import run\n"
        "if __name__ == '__main__': sys.exit(run(sys.argv[1:]))\n"
    )
    (tmp_path / "main.py").write_text(script)
    files = ["--train", words(tmp_path / "train.txt"), "--dev", words(tmp_path / "dev.txt")]
    grid = ["--epochs", "1", "--seeds", "1", "--widths", "2", "--processes", "1"]
    command = ["compare", "sort", *files, *grid, "--out", str(tmp_path / "cmp")]
    done = subprocess.run(
        [sys.executable, str(tmp_path / "main.py"), *command],
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "joint-2" in done.stdout
    assert "sorted words" in done.stdout
