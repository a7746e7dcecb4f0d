"""Every command on a Hugging Face model: fine-tuned here, or as it is."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

pytest.importorskip("transformers")

from tiny import contents, finish, part
from tiny_folders import folder, spaced
from tiny_pairs import begin, pairs, resume, tsv
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import beamlearn.comparison.runner
from beamlearn import BeamTransducer
from beamlearn.cli.main import run
from beamlearn.hf.quiet import quiet
from beamlearn.learning.ramp import Ramp
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.training.run import Run
from beamlearn.training.settings import Learning

LEARNING = ["--epochs", 2, "--batch-size", 8, "--width", 2, "--beam-start", 0.5]


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn_(*arguments):
    return run([str(argument) for argument in arguments])


def one_sentence(capsys):
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return " ".join(told.split())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Files, and folders of models that were not trained here."""
    path = tmp_path_factory.mktemp("data")
    for name, count, seed in (("train", 24, 0), ("dev", 6, 1)):
        text = tsv(spaced(pairs(count, seed)))
        (path / f"{name}.tsv").write_text(text, encoding="utf-8")
    for kind in ("t5", "bart", "gpt2"):
        folder(path / kind, kind)
    return path


def train(data, out, *arguments, kind="t5"):
    files = ["--train", data / "train.tsv", "--dev", data / "dev.tsv", "--out", out]
    return beamlearn_("train", "transduce", "--hf", data / kind, *files, *LEARNING, *arguments)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A run whose model folder is gone since."""
    path = tmp_path_factory.mktemp("trained")
    shutil.copytree(data / "t5", path / "t5")
    for name in ("train.tsv", "dev.tsv"):
        shutil.copy(data / name, path)
    assert train(path, path / "run") == 0
    shutil.rmtree(path / "t5")
    return path / "run"


# --- train ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_training_begins_with_the_model_as_it_is(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", 1) == 0
    told = capsys.readouterr().err
    assert "24 pairs, source symbols: 40, target tokens: 40, " in told
    assert "warm start  validation wrong outputs" in told
    records = list(Run.open(tmp_path / "run").rounds())
    assert records[0]["epoch"] == 0
    assert [r["beam_weight"] for r in records if "beam_weight" in r] == [0.0, 0.1, 0.1]
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["transducer"]["hf"] == str(data / "t5")
    assert config["learning"]["learning_rate"] == 1e-4


def test_a_run_folder_holds_all_of_the_model(trained):
    facts = json.loads((trained / "vocabulary.json").read_text())
    assert {"config.json", "generation_config.json", "tokenizer.json"} <= facts["texts"].keys()
    names = {path.name for path in trained.iterdir()}
    assert {"config.json", "vocabulary.json", "model.safetensors", "rounds.jsonl"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".py"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [
        ["--algorithm", "log_likelihood"],
        ["--algorithm", "bso", "--cost", "hamming"],
        ["--strategy", "reset", "--loss", "upper_bound", "--cost", "bleu"],
        pytest.param(["--algorithm", "dagger", "--cost", "exact"], marks=pytest.mark.slow),
        pytest.param(["--loss", "weighted_pairs_all", "--cost", "chrf"], marks=pytest.mark.slow),
        pytest.param(["--optimizer", "gradient", "--average"], marks=pytest.mark.slow),
    ],
)
def test_any_algorithm_and_cost(data, tmp_path, choice):
    options = ["--train", data / "dev.tsv", "--dev", data / "dev.tsv", "--epochs", 1]
    arguments = ["--hf", data / "t5", "--out", tmp_path / "run", *options, *choice]
    assert beamlearn_("train", "transduce", *arguments) == 0
    rounds = [r for r in Run.open(tmp_path / "run").rounds() if "gradient_norm" in r]
    assert all(record["gradient_norm"] > 0 for record in rounds)


@pytest.mark.parametrize("kind", ["bart", pytest.param("gpt2", marks=pytest.mark.slow)])
def test_other_kinds_of_models(data, tmp_path, capsys, kind):
    out = tmp_path / "run"
    assert train(data, out, "--epochs", 1, kind=kind) == 0
    capsys.readouterr()
    assert beamlearn_("evaluate", out, data / "dev.tsv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_it_learns(data, tmp_path, kind):
    path = folder(tmp_path / kind, kind, apart=False)
    (tmp_path / "train.tsv").write_text(tsv(spaced(pairs(150))), encoding="utf-8")
    files = ["--train", tmp_path / "train.tsv", "--dev", data / "dev.tsv"]
    learning = ["--learning-rate", 0.01, "--epochs", 12, "--batch-size", 8, "--width", 3]
    out = tmp_path / "run"
    arguments = ["train", "transduce", "--hf", path, *files, *learning, "--out", out]
    assert beamlearn_(*arguments) == 0
    costs = [r["validation_cost"] for r in Run.open(out).rounds() if "validation_cost" in r]
    assert min(costs) < 0.7 * costs[0]


# --- interrupted ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", pytest.param("gpt2", marks=pytest.mark.slow)])
def test_killed_at_any_round_it_comes_to_the_same_bytes(data, tmp_path, kind):
    chosen = TransductionExperiment(
        data=TransductionFiles(train=str(data / "train.tsv"), dev=str(data / "dev.tsv")),
        transducer=TransducerSettings(hf=str(data / kind)),
        learning=Learning(
            epochs=2, batch_size=8, width=Ramp(2, 2), beam_start=0.5, learning_rate=0.003
        ),
    )
    finish(begin(chosen, tmp_path / "whole"))
    for events in (2, 5):
        killed = tmp_path / f"killed-{events}"
        part(begin(chosen, killed), events)
        finish(resume(killed))
        assert contents(killed) == contents(tmp_path / "whole")


def test_resume_needs_no_more_than_the_folder(trained, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "run")
    model = (trained / "model.safetensors").read_bytes()
    again = ["train", "transduce", "--out", tmp_path / "run", "--resume"]
    assert beamlearn_(*again) == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == model
    capsys.readouterr()
    assert beamlearn_(*again, "--hf", "another") == 2
    assert "--hf was '" in one_sentence(capsys)


def test_a_warm_start_goes_on_with_the_same_model(trained, data, tmp_path, capsys):
    options = ["--train", data / "dev.tsv", "--dev", data / "dev.tsv", "--epochs", 1, "--width", 2]
    start = ["--warm-start", trained, "--out", tmp_path / "more", *options]
    assert beamlearn_("train", "transduce", *start) == 0
    config = json.loads((tmp_path / "more" / "config.json").read_text())
    assert config["learning"]["learning_rate"] == 1e-4
    assert config["learning"]["beam_start"] == 0
    capsys.readouterr()
    assert beamlearn_("train", "transduce", *start, "--hf", data / "t5") == 2
    assert "--warm-start and --hf must not be given together" in one_sentence(capsys)


# --- what there is to do with a run --------------------------------------------------------------


def test_predict(trained, data, capsys):
    assert beamlearn_("predict", trained, data / "dev.tsv", "--width", 2) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    sources = [line.split("\t")[0] for line in (data / "dev.tsv").read_text().splitlines()]
    assert [row[0] for row in rows] == sources
    assert [row[1] for row in rows] == BeamTransducer.load(trained).predict(sources, width=2)
    assert beamlearn_("predict", trained, "--text", "a b", "--nbest", 2, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["nbest"]) == 2


@pytest.mark.slow
def test_evaluate_diagnose_inspect_and_report(trained, data, tmp_path, capsys):
    dev = data / "dev.tsv"
    assert beamlearn_("evaluate", trained, dev, "--width", "1,2", "--json", "--errors") == 0
    found = json.loads(capsys.readouterr().out)
    assert [result["width"] for result in found["results"]] == [1, 2]
    assert beamlearn_("diagnose", trained, dev, "--widths", "1,2") == 0
    assert "the best reachable output" in capsys.readouterr().out
    assert beamlearn_("inspect", trained, dev, "--text", "--against", data / "t5") == 0
    told = capsys.readouterr().out
    assert "step  place  from  action" in told
    assert beamlearn_("inspect", trained, "--typed", "a b", "--right", "a b", "--text") == 0
    assert "right   a b" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert beamlearn_("report", trained, "--widths", "1,2", "-o", page) == 0
    assert f"--hf {trained.parent / 't5'}" in page.read_text()


def test_compare(data, tmp_path, monkeypatch, capsys):
    @contextmanager
    def here(processes):
        with ThreadPoolExecutor(1) as pool:
            yield pool

    monkeypatch.setattr(beamlearn.comparison.runner, "local_processes", here)
    files = ["--train", data / "train.tsv", "--dev", data / "dev.tsv", "--out", tmp_path / "cmp"]
    grid = ["--algorithms", "log_likelihood,joint", "--widths", 2, "--seeds", 1, "--epochs", 1]
    assert beamlearn_("compare", "transduce", "--hf", data / "t5", *files, *grid) == 0
    config = json.loads((tmp_path / "cmp" / "joint-2-seed0" / "config.json").read_text())
    assert config["learning"]["learning_rate"] == 1e-4
    assert "joint" in capsys.readouterr().out


def test_export_is_an_ordinary_model(trained, data, tmp_path, capsys):
    out = tmp_path / "models" / "tuned"
    assert beamlearn_("export", trained, out) == 0
    assert f"The model is in {out}, as transformers loads it." in one_sentence(capsys)
    with quiet():
        model = AutoModelForSeq2SeqLM.from_pretrained(out)
        tokenizer = AutoTokenizer.from_pretrained(out)
    width = json.loads((trained / "decoding.json").read_text())["width"]
    assert model.generation_config.num_beams == width
    weights = Run.open(trained).load_model()
    for name, tensor in weights.items():
        assert tensor.equal(model.state_dict()[name.removeprefix("model.")])
    ids = tokenizer("a b", return_tensors="pt")
    limited = {"max_new_tokens": 17, "num_beams": 1, "do_sample": False}
    greedy = model.generate(input_ids=ids["input_ids"], **limited)[0, 1:]
    assert beamlearn_("predict", trained, "--text", "a b", "--width", 1) == 0
    found = capsys.readouterr().out.rstrip("\n").split("\t")[1]
    assert tokenizer.decode(greedy, skip_special_tokens=True) == found
    assert beamlearn_("export", trained, out) == 2
    assert "OUT must be new or empty, but" in one_sentence(capsys)


def test_export_of_a_greedy_model_into_the_folder_one_is_in(trained, tmp_path, monkeypatch):
    copy = tmp_path / "greedy"
    shutil.copytree(trained, copy)
    decoding = json.loads((copy / "decoding.json").read_text())
    (copy / "decoding.json").write_text(json.dumps({**decoding, "width": 1}))
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert beamlearn_("export", copy, ".") == 0
    with quiet():
        model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    assert model.generation_config.num_beams == 1
    assert model.generation_config.length_penalty is None


def test_only_models_from_elsewhere_are_exported(tmp_path, capsys):
    BeamTransducer(size=8, epochs=1, width=2).fit(["a", "b"], ["x", "y"]).save(tmp_path / "own")
    assert beamlearn_("export", tmp_path / "own", tmp_path / "out") == 2
    assert "holds a transducer of its own kind; use it with" in one_sentence(capsys)
    assert not (tmp_path / "out").exists()


def test_the_estimator_fine_tunes_too(data):
    estimator = BeamTransducer(hf=str(data / "t5"), epochs=1, width=2)
    estimator.fit(["a b", "c", "d d"] * 3, ["a b", "k", "d:"] * 3)
    assert len(estimator.predict(["a b"])) == 1
    assert estimator.history_[0]["epoch"] == 0
    assert estimator._fitted.experiment.learning.learning_rate == 1e-4


# --- models that were not trained here -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_a_model_as_it_is(data, capsys, kind):
    dev = data / "dev.tsv"
    given = ["inspect", "--hf", data / kind, dev, "--text", "--width", 2]
    assert beamlearn_(*given) == 0
    assert f"{kind}, beam of 2" in capsys.readouterr().out
    assert beamlearn_("evaluate", data / kind, dev, "--width", 2, "--json") == 0
    assert json.loads(capsys.readouterr().out)["examples"] == 6
    assert beamlearn_("predict", data / kind, "--text", "a b") == 0
    assert capsys.readouterr().out.startswith("a b\t")


def test_what_a_model_as_it_is_cannot_do(data, trained, capsys):
    dev = data / "dev.tsv"
    assert beamlearn_("inspect", "--hf", trained, dev, "--text") == 2
    assert "--hf goes with the folder of a Hugging Face model, but" in one_sentence(capsys)
    assert beamlearn_("report", data / "t5") == 2
    assert "must be a run folder, but it is that of a Hugging Face" in one_sentence(capsys)
    start = ["--warm-start", data / "t5", "--train", dev, "--out", data / "none"]
    assert beamlearn_("train", "transduce", *start) == 2
    assert one_sentence(capsys).endswith("that of a Hugging Face model; fine-tune it, with --hf.")
    assert beamlearn_("evaluate", data / "t5", dev, "--policy", "average") == 2
    assert "--policy must be best for the Hugging Face model" in one_sentence(capsys)
    assert beamlearn_("inspect", "--hf", data / "t5", "--text") == 2
    assert "INPUT or --typed must be given" in one_sentence(capsys)


# --- what can be wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--source-tokens", "words"),
        ("--target-min-count", 2),
        ("--model", "transformer"),
        ("--size", 64),
        ("--layers", 2),
        ("--dropout", 0.1),
    ],
)
def test_settings_of_new_networks_are_refused(data, tmp_path, capsys, option, value):
    assert train(data, tmp_path / "run", option, value) == 2
    told = one_sentence(capsys)
    assert f"{option} is for new networks, but --hf names a model that has its own" in told
    assert not (tmp_path / "run").exists()


def test_folders_that_hold_no_model(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", kind="none") == 2
    told = one_sentence(capsys)
    assert told.startswith("--hf must be a folder with a Hugging Face model and its tokenizer")
    shutil.copytree(data / "t5", tmp_path / "mute")
    for file in (tmp_path / "mute").glob("tokenizer*"):
        file.unlink()
    assert train(data, tmp_path / "run", "--hf", tmp_path / "mute") == 2
    assert "has no tokenizer; save it there with" in one_sentence(capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("file", ["train", "dev"])
def test_long_sources_are_answered_with_file_and_line(data, tmp_path, capsys, file):
    path = folder(tmp_path / "short", most=8)
    shutil.copy(data / "train.tsv", tmp_path)
    shutil.copy(data / "dev.tsv", tmp_path)
    with (tmp_path / f"{file}.tsv").open("a") as lines:
        lines.write("a b c d " * 3 + "\ta\n")
    assert train(tmp_path, tmp_path / "run", "--hf", path) == 2
    line = 25 if file == "train" else 7
    sentence = f"{file}.tsv:{line}: A source may have 8 tokens, as the model reads no more, but"
    assert sentence in one_sentence(capsys)
    assert not (tmp_path / "run").exists()


def test_long_sources_have_no_prediction(data, tmp_path, capsys):
    path, lines = folder(tmp_path / "short", most=4), tmp_path / "lines.txt"
    lines.write_text("a b\na b c d a\nc\n")
    assert beamlearn_("predict", path, lines, "--width", 2) == 2
    out, told = capsys.readouterr()
    assert [line.count("\t") for line in out.splitlines()] == [1, 0, 1]
    assert "lines.txt:2: A source may have 4 tokens, as the model reads no more" in told
    lines.write_text("a b\ta\na b c d a\tb\n")
    assert beamlearn_("evaluate", path, lines) == 2
    assert "lines.txt:2: A source may have 4 tokens" in one_sentence(capsys)
    assert beamlearn_("inspect", path, "--typed", "a b c d a", "--text") == 2
    assert "The input: A source may have 4 tokens" in one_sentence(capsys)


def test_long_targets(data, tmp_path, capsys):
    (tmp_path / "dev.tsv").write_text("a\tb\n")
    (tmp_path / "train.tsv").write_text("a\t" + "b " * 30 + "\n")
    assert train(tmp_path, tmp_path / "run", "--hf", data / "t5") == 2
    assert "A target may have 14 tokens, as length_factor = 2 and" in one_sentence(capsys)
    (tmp_path / "train.tsv").write_text("a\t" + "b " * 1030 + "\n")
    assert train(tmp_path, tmp_path / "run", "--hf", data / "bart") == 2
    assert "A target may have 1023 tokens, as the model has no places" in one_sentence(capsys)


def test_a_damaged_vocabulary_is_said(trained, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "run")
    path = tmp_path / "run" / "vocabulary.json"
    facts = json.loads(path.read_text())
    del facts["texts"]["config.json"]
    path.write_text(json.dumps(facts))
    assert beamlearn_("predict", tmp_path / "run", "--text", "a") == 2
    assert "vocabulary.json does not fit the digest in config.json" in one_sentence(capsys)


WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "transformers" else find(name, *more)
from beamlearn.cli.main import run
folder, run_folder, file = sys.argv[1:]
print(run(["train", "transduce", "--hf", folder, "--train", file, "--out", "x"]))
print(run(["predict", run_folder, "--text", "a"]))
"""


@pytest.mark.slow
def test_a_missing_package_is_named(trained, data):
    given = [str(path) for path in (data / "t5", trained, data / "dev.tsv")]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *given], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["2", "2"]
    told = " ".join(done.stderr.split())
    sentence = "needs the package 'transformers', which is not installed; run `pip install"
    assert told.count(f"--hf: beamlearn.hf {sentence} beamlearn[hf]`.") == 2
