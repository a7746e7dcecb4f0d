"""Folders of Hugging Face models: read, kept as data, and written."""

import json
import shutil

import pytest
import torch

pytest.importorskip("transformers")

from tiny_folders import ended, folder
from tiny_transformers import make

from beamlearn.hf.model_files import ModelFiles
from beamlearn.hf.pretrained import Pretrained
from beamlearn.training.settings import SettingsError

pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.mark.parametrize("kind", ["t5", "bart", "marian", "gpt2", "llama"])
def test_a_model_comes_back_from_its_files_and_weights(tmp_path, kind):
    one = Pretrained.read(folder(tmp_path / "model", kind))
    files = ModelFiles.from_json(json.loads(json.dumps(one.files().to_json())))
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    two = Pretrained.from_files(files)
    assert torch.equal(torch.random.get_rng_state(), before)
    two.model.load_state_dict(one.model.state_dict())
    assert type(two.model) is type(one.model)
    assert two.tokenizer("a b zz")["input_ids"] == one.tokenizer("a b zz")["input_ids"]
    assert two.tokenizer.model_max_length == one.tokenizer.model_max_length
    assert two.model.generation_config.to_dict() == one.model.generation_config.to_dict()
    ids = torch.tensor([[4, 5, 1]])
    told = {"decoder_input_ids": ids} if one.model.config.is_encoder_decoder else {}
    with torch.no_grad():
        first, second = (m.eval()(input_ids=ids, **told).logits for m in (one.model, two.model))
    assert torch.equal(first, second)


def test_half_precision_is_trained_in_float32(tmp_path):
    path = folder(tmp_path / "model")
    make("t5").to(torch.bfloat16).save_pretrained(path)
    found = Pretrained.read(path)
    assert {parameter.dtype for parameter in found.model.parameters()} == {torch.float32}
    again = Pretrained.from_files(found.files())
    assert {parameter.dtype for parameter in again.model.parameters()} == {torch.float32}


def without(name):
    def change(path):
        (path / name).unlink()

    return change


def without_tokenizer(path):
    for file in path.glob("tokenizer*"):
        file.unlink()


def changed(name, **values):
    def change(path):
        facts = json.loads((path / name).read_text())
        (path / name).write_text(json.dumps({**facts, **values}))

    return change


def pickled(path):
    (path / "model.safetensors").unlink()
    torch.save(make("t5").state_dict(), path / "pytorch_model.bin")


def truncated(path):
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])


def headless(path):
    make("t5").encoder.save_pretrained(path / "part")
    shutil.copy(path / "part" / "model.safetensors", path)


def small_vocabulary(path):
    ended([f"w{number}" for number in range(50)]).save_pretrained(path)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (shutil.rmtree, "tokenizer, as `save_pretrained` writes it, but .*model does not exist"),
        (without("config.json"), "but .*model has no config.json; download a model to a folder"),
        (without_tokenizer, "model must be a folder with a model and its tokenizer, but it has no"),
        (without("model.safetensors"), "weights in safetensors, but it cannot be loaded"),
        (pickled, "weights in safetensors, but it cannot be loaded"),
        (truncated, "weights in safetensors, but it cannot be loaded"),
        (changed("config.json", d_ff=7), "must hold weights that fit its config.json, but they do"),
        (changed("config.json", d_model="many"), "but it cannot be loaded"),
        (changed("config.json", model_type="unheard"), "of a kind that transformers knows without"),
        (changed("config.json", model_type="bert"), "must hold a model that writes text"),
        (headless, "must hold all weights of a T5ForConditionalGeneration, but .* is missing"),
        (small_vocabulary, "its tokenizer has 53 tokens, and the model only 40; use the"),
        (
            lambda path: (path / "tokenizer.json").write_text("{"),
            "The tokenizer in .*model cannot be loaded",
        ),
    ],
)
def test_what_is_missing_is_said(tmp_path, damage, sentence):
    path = folder(tmp_path / "model")
    damage(path)
    with pytest.raises(SettingsError, match=sentence):
        Pretrained.read(path)


def test_code_that_comes_with_a_model_never_runs(tmp_path):
    path = folder(tmp_path / "model")
    told = tmp_path / "ran"
    code = f"open({str(told)!r}, 'w')\nclass Foreign: ...\n"
    (path / "modeling_foreign.py").write_text(code)
    foreign = dict.fromkeys(("AutoConfig", "AutoModelForSeq2SeqLM"), "modeling_foreign.Foreign")
    changed("config.json", auto_map=foreign, model_type="foreign")(path)
    with pytest.raises(SettingsError, match="without code from elsewhere"):
        Pretrained.read(path)
    tokenizers = {"AutoTokenizer": ["modeling_foreign.Foreign", None]}
    folder(path)
    changed("tokenizer_config.json", auto_map=tokenizers, tokenizer_class="Foreign")(path)
    assert Pretrained.read(path).tokenizer("a b")["input_ids"] == [3, 4, 1]  # by tokenizer.json
    assert not told.exists()


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", ".bashrc", "a/b", "run.py", ""])
def test_files_stay_in_their_folder(name):
    with pytest.raises(ValueError, match="a file of a model must have a plain name"):
        ModelFiles.from_json({"texts": {name: ""}, "binaries": {}})


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "spiece.model").write_bytes(b"\xff\x00\x01")
    (tmp_path / "config.json").write_text("{}\r\n", newline="")
    files = ModelFiles.from_json(json.loads(json.dumps(ModelFiles.read(tmp_path).to_json())))
    (tmp_path / "again").mkdir()
    files.write(tmp_path / "again")
    for name in ("spiece.model", "config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_files_that_make_no_model():
    with pytest.raises(ValueError, match="no model can be built from these files|model_type"):
        Pretrained.from_files(ModelFiles({"config.json": "{}"}, {}))


def test_a_folder_is_written_as_a_whole(tmp_path, monkeypatch):
    found = Pretrained.read(folder(tmp_path / "model"))

    def fails(_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(found.tokenizer, "save_pretrained", fails)
    with pytest.raises(OSError, match="the disk is gone"):
        found.write(tmp_path / "out", {})
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
