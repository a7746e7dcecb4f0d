"""Runs pushed to a stand-in of the Hub on loopback, and loaded from there by name."""

import json
import os
import subprocess
import sys

import pytest
import tiny
import tiny_pairs
import yaml
from hub_server import hub_server

from beamlearn.cli.main import run as command
from beamlearn.estimators import BeamTagger
from beamlearn.hub.name import Repository
from beamlearn.tasks.tagging.settings import TaggingFiles
from beamlearn.training.run import Run
from beamlearn.training.run.folder import METRICS

constants = pytest.importorskip("huggingface_hub.constants", reason="needs beamlearn[hub]")
pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run, with everything in its folder that training and people leave there."""
    folder = tmp_path_factory.mktemp("somebody")
    prepared = tiny.begin(tiny.experiment(folder / "data", train=6, epochs=1), folder / "run")
    tiny.finish(prepared)
    results = [{"width": width, "accuracy": 0.5, "words_per_second": 9.0} for width in (1, 3)]
    prepared.checkpointer.run.save_metrics({"task": "tag", "examples": 2, "results": results})
    prepared.checkpointer.run.save_decoding({"width": 4, "examples": 2, "losses": {"4": 0.5}})
    (folder / "run" / "secret.txt").write_text("not part of the model")
    return folder / "run"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_TOKEN", "hf_somebody")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server


def test_a_run_comes_back_by_its_name(run, hub, capsys):
    assert command(["push", str(run), "ann/pos"]) == 0
    assert "Next: " in (said := capsys.readouterr().err)
    assert "license in its README.md is for you" in said
    uploaded = {"README.md", "config.json", "decoding.json", "model.safetensors", "vocabulary.json"}
    assert set(hub.files["ann/pos"]) == uploaded
    assert hub.private["ann/pos"] is False
    for file, data in hub.files["ann/pos"].items():
        assert str(run.parent).encode() not in data, file
    config = json.loads(hub.files["ann/pos"]["config.json"])
    assert config["data"]["train"] == "train.conllu"
    sentences = [["the", "old", "man", "saw"], ["a", "dog"]]
    there, here = BeamTagger.from_run("hub:ann/pos"), BeamTagger.from_run(run)
    assert there.predict_nbest(sentences) == here.predict_nbest(sentences)
    assert there.width_ == 4
    outputs = []
    for name in ("hub:ann/pos", str(run)):
        assert command(["predict", name, "--text", "the old man", "--json"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    hub.asked.clear()
    hub.files["ann/pos"]["malicious.py"] = b"raise SystemExit"
    hub.files["ann/pos"]["model.pkl"] = b"pickle"
    assert command(["evaluate", "hub:ann/pos", str(run.parent / "data" / "train.conllu")]) == 0
    assert not any("malicious" in line or "pkl" in line for line in hub.asked)


def test_the_card_says_what_the_run_knows(run, tmp_path):
    assert command(["push", str(run), "ann/pos", "--dry-run", str(tmp_path / "dry")]) == 0
    card = (tmp_path / "dry" / "README.md").read_text(encoding="utf-8")
    _, head, body = card.split("---\n", 2)
    assert yaml.safe_load(head) == {
        "library_name": "beamlearn",
        "tags": ["beamlearn", "beam-search"],
    }
    assert "# license: fill this in" in head
    assert 'bl.BeamTagger.from_run("hub:ann/pos")' in body
    assert "`train.conllu`, and validated on every tenth" in body
    assert "| beam | accuracy |\n| ---: | ---: |\n| 1 | 0.5000 |\n| 3 | 0.5000 |" in body
    assert "beamlearn train tag --train train.conllu --width 3 --epochs 1" in body
    assert "No license has been chosen" in body
    assert "## Certificate" not in body  # the theorems do not apply to it
    assert "words/s" not in body


def test_the_card_has_the_certificate(tmp_path):
    learning = {
        "strategy": "continue",
        "loss": "upper_bound",
        "width": 2,
        "epochs": 1,
        "optimizer": "gradient",
        "learning_rate": 0.1,
        "radius": 1.0,
        "batch_size": 1,
        "stream": True,
        "mixture": 2,
    }
    network = {"model": "linear", "buckets": 256, "normalize": "none", "dropout": 0.0}
    begun = tiny.begin(tiny.experiment(tmp_path / "d", network=network, **learning), tmp_path / "r")
    tiny.finish(begun)
    out = tmp_path / "dry"
    assert command(["push", str(tmp_path / "r"), "ann/proven", "--dry-run", str(out)]) == 0
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "## Certificate" in card
    assert "of the mixture of all iterates is at most" in card
    assert "not about the single best model" in card
    assert not (out / "mixture.safetensors").exists()


def test_a_card_that_is_there_stays(run, hub, capsys):
    hub.files["ann/pos"] = {"README.md": b"---\nlicense: mit\n---\nMine"}
    hub.private["ann/pos"] = False
    assert command(["push", str(run), "ann/pos"]) == 0
    assert "The card in ann/pos stays; --replace-card" in capsys.readouterr().err
    assert hub.files["ann/pos"]["README.md"].endswith(b"Mine")
    assert "model.safetensors" in hub.files["ann/pos"]
    assert command(["push", str(run), "ann/pos", "--replace-card"]) == 0
    assert b"No license has been chosen" in hub.files["ann/pos"]["README.md"]


def test_private_means_private(run, hub, capsys):
    assert command(["push", str(run), "ann/mine", "--private"]) == 0
    assert hub.private["ann/mine"] is True
    hub.files["ann/open"], hub.private["ann/open"] = {}, False
    assert command(["push", str(run), "ann/open", "--private"]) == 2
    assert "--private needs a repository that is private or new" in capsys.readouterr().err
    assert hub.files["ann/open"] == {}


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["predict", "hub:ann/none", "--text", "a"], 2, "There must be a repository ann/none that"),
        (["predict", "hub:ann/empty", "--text", "a"], 2, "must hold a run, but there is no config"),
        (["predict", "hub:ann/empty@v9", "--text", "a"], 2, "check its name and revision"),
        (["predict", "hub:ann", "--text", "a"], 2, "must be named USER/NAME, got 'hub:ann'"),
        (["push", "RUN", "../etc/passwd"], 2, "must be named USER/NAME"),
        (["push", "RUN", "ann/pos@v1"], 2, "pushed to the newest revision"),
        (["push", "RUN", "ann/pos", "--dry-run", "RUN"], 2, "--dry-run must be a folder that is"),
        (["push", "nowhere", "ann/pos"], 2, "There is no folder nowhere"),
    ],
)
def test_wrong_names_are_refused(arguments, status, sentence, run, hub, capsys):
    hub.files["ann/empty"], hub.private["ann/empty"] = {}, False
    given = [str(run) if word == "RUN" else word for word in arguments]
    assert command(given) == status
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("broken", "status", "sentence"),
    [
        (401, 2, "log in with `hf auth login`"),
        (500, 1, "The Hub has failed with status 500; try again later."),
        (None, 1, "The Hub cannot be reached (ConnectError"),
    ],
)
def test_a_hub_that_fails(broken, status, sentence, run, hub, monkeypatch, capsys):
    hub.status = broken
    if broken is None:
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert command(["push", str(run), "ann/pos"]) == status
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_a_downloaded_run_needs_no_hub(run, hub, monkeypatch, capsys):
    assert command(["push", str(run), "ann/pos"]) == 0
    first = BeamTagger.from_run("hub:ann/pos")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    again = BeamTagger.from_run("hub:ann/pos")
    assert again.predict([["the", "man"]]) == first.predict([["the", "man"]])
    assert command(["predict", "hub:ann/other", "--text", "a"]) == 1
    assert (
        "cannot be reached, and no copy of ann/other is on this machine" in capsys.readouterr().err
    )


def test_code_is_neither_pushed_nor_run(run, hub, tmp_path, capsys):
    """The cost of a transducer may be a function of a module; a stranger's is never looked for."""
    begun = tiny_pairs.begin(tiny_pairs.experiment(tmp_path / "pairs"), tmp_path / "g2p")
    own = begun.checkpointer.run
    own.save_model(begun.model.scorer.state_dict())
    config = json.loads((own.path / "config.json").read_text(encoding="utf-8"))
    config["transducer"]["cost"] = "rollout:antigravity:cost"
    (own.path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert command(["push", str(own.path), "ann/g2p"]) == 2
    assert "must come without code" in capsys.readouterr().err
    assert "ann/g2p" not in hub.files
    files = ("config.json", "vocabulary.json", "model.safetensors")
    hub.files["eve/g2p"] = {name: (own.path / name).read_bytes() for name in files}
    hub.private["eve/g2p"] = False
    assert command(["predict", "hub:eve/g2p", "--text", "ab"]) == 2
    assert "hub:eve/g2p learned the cost 'rollout:antigravity:cost'" in capsys.readouterr().err
    assert "antigravity" not in sys.modules


def test_paths_in_texts_are_refused(tmp_path, capsys):
    """Words are symbols, and may not tell of this machine either."""
    data = TaggingFiles(train=str(tmp_path / "in.tsv"), dev=str(tmp_path / "in.tsv"), column="2")
    (tmp_path / "in.tsv").write_text(f"{tmp_path}\tX\na\tY\n", encoding="utf-8")
    chosen = tiny.experiment(tmp_path / "d").model_copy(update={"data": data})
    begun = tiny.begin(chosen, tmp_path / "run")
    begun.checkpointer.run.save_model(begun.model.scorer.state_dict())
    out = tmp_path / "dry"
    assert command(["push", str(tmp_path / "run"), "ann/x", "--dry-run", str(out)]) == 2
    assert "vocabulary.json holds the path" in capsys.readouterr().err


def test_files_of_a_run_are_copied_without_what_is_not_the_model(run):
    from beamlearn.training.run import portable_files

    files = portable_files(run)
    assert set(files) == {"config.json", "decoding.json", "model.safetensors", "vocabulary.json"}
    assert files["model.safetensors"] == (run / "model.safetensors").read_bytes()
    assert (run / METRICS).exists()
    assert Run.open(run).config["data"]["train"].startswith("/")  # the run itself keeps it


@pytest.mark.slow
def test_without_the_package_one_sentence_says_what_to_install(run):
    code = (
        "import sys; sys.modules['huggingface_hub'] = None\n"
        "from beamlearn.cli.main import main\n"
        "main(['predict', 'hub:ann/pos', '--text', 'a'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("run `pip install 'beamlearn[hub]'`.")


def test_names_of_repositories():
    assert Repository.read("hub:ann/pos@v1.0") == Repository("ann/pos", "v1.0")
    for wrong in ("hub:", "hub:a", "hub:a/b/c", "hub:../b", "hub:a/b@", "hub:a/b c"):
        with pytest.raises(ValueError, match="must be named USER/NAME"):
            Repository.read(wrong)
