"""Trainings of transducers that are left, resumed, warm-started and loaded."""

import io
import json

import pytest
import torch
from tiny import contents, finish, part
from tiny_pairs import begin, experiment, load, pairs, resume, tsv

from beamlearn.data.text import DataError
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.transduction.decode import transduce
from beamlearn.tasks.transduction.task import TRANSDUCTION
from beamlearn.training.run import RunError
from beamlearn.training.settings import SettingsError

KINDS = [
    {"model": "lstm", "finish": "first"},
    {"model": "transformer", "cost": "chrf"},
    {"model": "transformer", "layers": 2, "dropout": 0.0, "cost": "hamming"},
    {"model": "lstm", "cost": "bleu", "length_power": 1.0, "normalize": "none"},
]
pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.mark.slow
@pytest.mark.parametrize("network", KINDS, ids=["lstm", "transformer", "layers", "bleu"])
def test_left_and_resumed_it_ends_in_the_same_bytes(tmp_path, network):
    chosen = experiment(tmp_path, network=network)
    whole = finish(begin(chosen, tmp_path / "whole"))
    for events in (2, 4):
        run = tmp_path / str(events)
        part(begin(chosen, run), events)
        finish(resume(run))
        assert contents(run) == contents(tmp_path / "whole"), events
    transducer, kept = load(tmp_path / "whole")
    assert kept == chosen.resolved() == whole.experiment
    assert not transducer.scorer.training
    assert transducer.symbols == whole.model.symbols
    for name, tensor in whole.model.scorer.state_dict().items():
        assert torch.equal(transducer.scorer.state_dict()[name], tensor)


def test_a_warm_start_needs_every_token(tmp_path):
    finish(begin(experiment(tmp_path / "one", epochs=1), tmp_path / "run"))
    warm = experiment(tmp_path / "two", warm_start=tmp_path / "run", epochs=1)
    finish(begin(warm, tmp_path / "warm"))
    assert load(tmp_path / "warm")[0].symbols == load(tmp_path / "run")[0].symbols
    text = tsv(pairs(12))
    path = tmp_path / "two" / "train.tsv"
    lines = text.splitlines()
    lines[3] += " unheard"
    path.write_text("\n".join(lines))
    sentence = "must know every token .* it has no 'unheard' as in .*train.tsv:4; train it on"
    with pytest.raises(SettingsError, match=sentence):
        begin(warm, tmp_path / "new")
    path.write_text(text.replace("a", "x", 1) + "?!\ta\n")  # what sources have may be unknown
    begin(warm, tmp_path / "other")


def test_a_warm_start_where_rare_tokens_are_left_out(tmp_path):
    rare = {"target_min_count": 2}
    finish(begin(experiment(tmp_path / "one", epochs=1, network=rare), tmp_path / "run"))
    text = tsv(pairs(12)) + "a\tunheard\n"
    warm = experiment(
        tmp_path / "two", network=rare, warm_start=tmp_path / "run", epochs=1, text=text
    )
    finish(begin(warm, tmp_path / "warm"))
    symbols = load(tmp_path / "warm")[0].symbols
    assert symbols == load(tmp_path / "run")[0].symbols
    assert "unheard" not in symbols.target_numbers


def test_a_warm_start_may_change_what_weights_do_not_depend_on(tmp_path):
    finish(begin(experiment(tmp_path / "one", epochs=1), tmp_path / "run"))
    changed = {"cost": "bleu", "finish": "first", "length_bonus": 0.5, "length_extra": 7}
    warm = experiment(tmp_path / "two", network=changed, warm_start=tmp_path / "run", epochs=1)
    model = begin(warm, tmp_path / "warm").model
    assert {name: getattr(model.settings, name) for name in changed} == changed
    assert model.scorer.length_bonus == 0.5
    warm = experiment(tmp_path / "two", network={"size": 16}, warm_start=tmp_path / "run")
    with pytest.raises(SettingsError, match="`size` must be 8 as in the run .*, got 16"):
        begin(warm, tmp_path / "new")


LONG = "ab\ta b\na\ta a a a a a a\nb\tb\nc\tk k k k k k k k\n"


def test_targets_that_are_too_long_are_refused_with_their_line(tmp_path):
    begun = tmp_path / "run"
    chosen = experiment(tmp_path, text=LONG)
    sentence = (
        r"train.tsv:2: A target may have 6 tokens, as length_factor = 2 and length_extra = 4 allow "
        r"for its source, but it has 7 \(2 targets are too long\); set `length_extra` = 6, or "
    )
    with pytest.raises(DataError, match=sentence):
        begin(chosen, begun)
    assert not begun.exists()
    begin(experiment(tmp_path, network={"length_extra": 6}, text=LONG), begun)
    finish(begin(experiment(tmp_path / "short", epochs=1), tmp_path / "first"))
    warm = experiment(tmp_path, warm_start=tmp_path / "first", text=LONG)
    with pytest.raises(DataError, match="train.tsv:2: A target may have 6 tokens"):
        begin(warm, tmp_path / "warm")


def subwords(path):
    """Write a small model of sentencepiece."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text for (text,) in pairs(40).references]),
        model_writer=model,
        vocab_size=14,
        model_type="bpe",
        minloglevel=2,
    )
    path.write_bytes(model.getvalue())
    return str(path)


def test_models_of_subwords_travel_with_the_run(tmp_path):
    path = tmp_path / "bpe.model"
    tokens = {"target_tokens": subwords(path), "length_extra": 12}
    chosen = experiment(tmp_path, network=tokens)
    finish(begin(chosen, tmp_path / "whole"))
    part(begin(chosen, tmp_path / "part"), 2)
    before = in_order(transduce(load(tmp_path / "whole")[0], ["abca", "d"], 3, nbest=3))
    path.unlink()
    transducer, _ = load(tmp_path / "whole")
    assert in_order(transduce(transducer, ["abca", "d"], 3, nbest=3)) == before
    finish(resume(tmp_path / "part"))
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")
    with pytest.raises(DataError, match="bpe.model: There is no such file"):
        begin(chosen, tmp_path / "new")


@pytest.mark.parametrize(
    "change",
    [
        {"target_tokens": ["a"]},
        {"target": {"kind": "sentencepiece"}},
        {"source_symbols": None},
    ],
)
def test_a_tampered_vocabulary(tmp_path, change):
    finish(begin(experiment(tmp_path, epochs=1), tmp_path / "run"))
    path = tmp_path / "run" / "vocabulary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(RunError, match="vocabulary.json"):
        load(tmp_path / "run")


def test_judging_counts_wrong_outputs(tmp_path):
    prepared = begin(experiment(tmp_path, epochs=1), tmp_path / "run")
    *_, validation = prepared.training
    found = TRANSDUCTION.report(prepared.model, prepared.validation, 3)
    expected = f"wrong outputs {found.wer:.2%}, mean cost {found.cost:.3f}"
    assert prepared.describe_validation(validation.evaluation) == expected
