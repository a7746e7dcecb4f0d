"""Logs elsewhere: the numbers of rounds.jsonl, whole, in order, and after a kill as well."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
import tiny

from beamlearn.cli.main import run as command
from beamlearn.training.checkpointer import Checkpointer
from beamlearn.training.logs import check_logs, logging

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")
quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
needs_tensorboard = pytest.mark.skipif(
    find_spec("tensorboard") is None, reason="needs tensorboard; install beamlearn[tensorboard]"
)


def expected(run):
    """What rounds.jsonl says: by metric, the value of each round."""
    found = {}
    for line in (run / "rounds.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name, value in record.items():
            if name != "round":
                found.setdefault(name, {})[record["round"]] = pytest.approx(float(value), rel=1e-6)
    return found


def scalars(run):
    """The same of the event files, as TensorBoard reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0}).Reload()
    return {
        name: [(one.step, one.value) for one in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def until_killed(events, training, run, watchers):
    """Three rounds, a validation with a checkpoint, and two rounds more."""
    saved = Checkpointer(run, seconds=1e9)
    for _, event in zip(range(6), events, strict=False):
        for watch in (saved, *watchers):
            watch(training, event)
    raise KeyboardInterrupt


def killed_and_resumed(folder, name):
    """A training that is killed some rounds after its checkpoint, and then taken to its end."""
    prepared = tiny.begin(tiny.experiment(folder / "data", epochs=2), folder / "run")
    run, events = prepared.checkpointer.run, iter(prepared.training)
    with pytest.raises(KeyboardInterrupt), logging([name], prepared.training, run) as watchers:
        until_killed(events, prepared.training, run, watchers)
    assert prepared.training.round == 5
    again = tiny.resume(folder / "run", report=print)
    assert again.training.round == 3  # it goes on before where it was killed
    with again.checkpointer.held(), logging([name], again.training, run) as watchers:
        tiny.fit(again.training, again.checkpointer, *watchers)
    return folder / "run"


@quiet
@needs_tensorboard
def test_tensorboard_has_every_round_once(tmp_path):
    run = killed_and_resumed(tmp_path, "tensorboard")
    found = scalars(run)
    assert {name: dict(values) for name, values in found.items()} == expected(run)
    for values in found.values():
        assert [step for step, _ in values] == sorted({step for step, _ in values})


@quiet
@needs_tensorboard
def test_train_logs_and_can_be_overwritten(tmp_path, capsys):
    file = tiny.conllu(tmp_path / "train.conllu", tiny.sentences(9))
    given = ["train", "tag", "--train", file, "--out", str(tmp_path / "run"), "--epochs", "1"]
    small = ["--word-size", "4", "--affix-size", "4", "--width", "2", "--log", "tensorboard"]
    assert command([*given, *small]) == 0
    found = {name: dict(values) for name, values in scalars(tmp_path / "run").items()}
    assert found == expected(tmp_path / "run")
    assert {"loss", "validation_cost", "gradient_norm", "best"} <= found.keys()
    files = list((tmp_path / "run" / "tensorboard").iterdir())
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files)
    assert command([*given, *small[:-2], "--overwrite"]) == 0
    assert not (tmp_path / "run" / "tensorboard").exists()


@quiet
@needs_tensorboard
@pytest.mark.slow
def test_compare_logs_every_training(tmp_path):
    file = tiny.conllu(tmp_path / "train.conllu", tiny.sentences(9))
    out = tmp_path / "cmp"
    given = ["--train", file, "--dev", file, "--out", str(out), "--epochs", "1", "--seeds", "1"]
    small = ["--word-size", "4", "--affix-size", "4", "--widths", "1,2", "--processes", "1"]
    chosen = ["--algorithms", "continue", "--log", "tensorboard"]
    assert command(["compare", "tag", *given, *small, *chosen]) == 0
    runs = [path.parent for path in out.glob("*/config.json")]
    assert len(runs) == 2
    for run in runs:
        assert {name: dict(values) for name, values in scalars(run).items()} == expected(run)


# --- small stand-ins for packages that send their logs elsewhere ----------------------------------

WANDB = """
import json, os

class Run:
    def __init__(self, about): self.say("init", about)
    def say(self, what, value):
        with open(os.environ["STAND_IN"], "a") as file:
            file.write(json.dumps([what, value]) + "\\n")
    def define_metric(self, name, step_metric=None): self.say("metric", [name, step_metric])
    def log(self, numbers): self.say("log", numbers)
    def finish(self, exit_code): self.say("finish", exit_code)

def init(**about): return Run(about)
"""
MLFLOW = """
import json, os
from types import SimpleNamespace as Some

class MlflowClient:
    def say(self, what, value):
        with open(os.environ["STAND_IN"], "a") as file:
            file.write(json.dumps([what, value]) + "\\n")
    def get_experiment_by_name(self, name): return None
    def create_experiment(self, name): self.say("experiment", name); return "7"
    def create_run(self, place, run_name): return Some(info=Some(run_id="r1"))
    def update_run(self, number, status): self.say("status", [number, status])
    def set_terminated(self, number, status): self.say("status", [number, status])
    def log_batch(self, number, params=(), metrics=()):
        self.say("params", {one.key: one.value for one in params})
        self.say("log", [[one.key, one.value, one.step] for one in metrics])
"""
ENTITIES = """
from collections import namedtuple
Param = namedtuple("Param", "key value")
Metric = namedtuple("Metric", "key value timestamp step")
"""


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Packages with the functions that are called; they write down what they are told."""
    folder = tmp_path / "stand_ins"
    (folder / "mlflow").mkdir(parents=True)
    (folder / "wandb.py").write_text(WANDB)
    (folder / "mlflow" / "__init__.py").write_text(MLFLOW)
    (folder / "mlflow" / "entities.py").write_text(ENTITIES)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("STAND_IN", str(tmp_path / "said.jsonl"))
    forget()
    yield tmp_path / "said.jsonl"
    forget()


def forget():
    """Import the packages again when they are needed."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("wandb", "mlflow") or ".logs.to_" in name:
            del sys.modules[name]


def said(file, what):
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [value for kind, value in lines if kind == what]


def test_wandb_is_told_every_round(tmp_path, stand_ins):
    run = killed_and_resumed(tmp_path, "wandb")
    first, second = said(stand_ins, "init")
    assert first["id"] == second["id"] == json.loads((run / "logs.json").read_text())["wandb"]
    assert (first["resume"], first["name"]) == ("allow", "run")
    assert first["config"]["data.train"] == "train.conllu"
    assert ["*", "round"] in said(stand_ins, "metric")
    assert said(stand_ins, "finish") == [1, 0]
    found = {}
    for numbers in said(stand_ins, "log"):
        number = numbers.pop("round")
        for name, value in numbers.items():
            assert found.setdefault(name, {}).setdefault(number, value) == value
    assert found == expected(run)


def test_mlflow_is_told_every_round(tmp_path, stand_ins):
    run = killed_and_resumed(tmp_path, "mlflow")
    assert json.loads((run / "logs.json").read_text())["mlflow"] == "r1"
    assert said(stand_ins, "experiment") == ["beamlearn"]
    assert said(stand_ins, "params")[0]["learning.width"] == "3"
    assert said(stand_ins, "status") == [["r1", "KILLED"], ["r1", "RUNNING"], ["r1", "FINISHED"]]
    found = {}
    for metrics in said(stand_ins, "log"):
        for name, value, step in metrics:
            assert found.setdefault(name, {}).setdefault(step, value) == value
    assert found == expected(run)


# --- the packages themselves, where they are installed --------------------------------------------


@quiet
@pytest.mark.slow
@pytest.mark.skipif(find_spec("mlflow") is None, reason="needs mlflow; install beamlearn[mlflow]")
def test_mlflow_itself(tmp_path, monkeypatch):
    uri = f"file:{tmp_path / 'mlruns'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    run = killed_and_resumed(tmp_path, "mlflow")
    from mlflow import MlflowClient

    client, number = MlflowClient(), json.loads((run / "logs.json").read_text())["mlflow"]
    wanted = expected(run)
    for name, values in wanted.items():
        assert {one.step: one.value for one in client.get_metric_history(number, name)} == values
    assert client.get_run(number).info.status == "FINISHED"
    assert client.get_run(number).data.params["learning.width"] == "3"


@quiet
@pytest.mark.slow
@pytest.mark.skipif(find_spec("wandb") is None, reason="needs wandb; install beamlearn[wandb]")
def test_wandb_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    killed_and_resumed(tmp_path, "wandb")
    written = list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    assert written
    assert all(file.stat().st_size > 0 for file in written)


# --- refusals -------------------------------------------------------------------------------------


def test_names_of_logs(monkeypatch):
    assert check_logs([]) == ()
    with pytest.raises(ValueError, match="There is no log called 'tensorbord'. Did you mean 'tens"):
        check_logs(["tensorbord"])
    monkeypatch.setattr("beamlearn.training.logs.tracker.find_spec", lambda _: object())
    assert check_logs(["wandb,mlflow", "wandb"]) == ("wandb", "mlflow")
    monkeypatch.setattr("beamlearn.training.logs.tracker.find_spec", lambda _: None)
    with pytest.raises(
        ValueError, match=r"`log` = wandb needs .* run `pip install 'beamlearn\[wan"
    ):
        check_logs(["wandb"])


def test_a_missing_package_is_named_before_anything_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("beamlearn.training.logs.tracker.find_spec", lambda _: None)
    file = tiny.conllu(tmp_path / "train.conllu", tiny.sentences(9))
    out = tmp_path / "run"
    assert command(["train", "tag", "--train", file, "--out", str(out), "--log", "mlflow"]) == 2
    assert "--log mlflow needs the package 'mlflow'" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_help_loads_no_tracker():
    code = (
        "import sys\nfrom beamlearn.cli.main import run\nrun(['train', 'tag', '--help-all'])\n"
        "print({'torch', 'tensorboard', 'wandb', 'mlflow', 'spacy', 'huggingface_hub'} "
        "& set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--log" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"
