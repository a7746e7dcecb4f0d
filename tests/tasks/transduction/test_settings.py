import re

import pytest

from beamlearn.algorithms import ALGORITHMS
from beamlearn.tasks.settings import ModelSettings
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.training.settings import Learning, SettingsError, parse, read_toml

DATA = {"train": "train.tsv"}
TOML = """
[data]
train = "train.tsv.gz"
dev = "dev.tsv"
references = "several"

[transducer]
source_tokens = "words"
target_tokens = "subwords/joint.model"
target_min_count = 2
model = "transformer"
size = 96
layers = 2
heads = 6
cost = "edit"
insertion = 0.5
finish = "first"
length_power = 1

[learning]
algorithm = "continue"
width = "1:8"
"""


def refused(values, match, model=TransducerSettings):
    with pytest.raises(SettingsError) as caught:
        parse(model, values, "my.toml")
    message = str(caught.value)
    assert re.search("^my.toml: " + match, message), message
    assert "\n" not in message


def test_toml(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(TOML, encoding="utf-8")
    found = parse(TransductionExperiment, read_toml(path), str(path))
    assert found.data == TransductionFiles(
        train="train.tsv.gz", dev="dev.tsv", references="several"
    )
    assert found.references == "several"
    assert found.settings == found.transducer
    assert found.transducer == TransducerSettings(
        source_tokens="words",
        target_tokens="subwords/joint.model",
        target_min_count=2,
        model="transformer",
        size=96,
        layers=2,
        heads=6,
        insertion=0.5,
        finish="first",
        length_power=1.0,
    )
    assert parse(TransductionExperiment, found.model_dump(mode="json")) == found


def test_the_file_alone_is_enough():
    found = parse(TransductionExperiment, {"data": DATA})
    assert (found.task, found.group, found.references) == ("transduce", "transducer", "one")
    assert found.transducer == TransducerSettings()
    assert parse(TransductionExperiment, {"data": None}).references == "one"


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_auto_is_log_softmax_however_it_is_trained(algorithm):
    found = TransductionExperiment(data=None, learning=Learning(algorithm=algorithm)).resolved()
    assert found.transducer == TransducerSettings(normalize="log_softmax")
    chosen = TransducerSettings(normalize="none")
    assert chosen.resolved(found.learning) == chosen


@pytest.mark.parametrize("cost", ["edit", "chrf", "rollout:chrf", "rollout:my.module:cost"])
def test_costs_and_whether_they_roll_out(cost):
    found = parse(TransductionExperiment, {"data": DATA, "transducer": {"cost": cost}}).resolved()
    assert found.transducer.rolls_out == cost.startswith("rollout:")
    assert found.learning.roll_out == ("learned" if found.transducer.rolls_out else None)
    assert found.left_open().learning.roll_out is None


def test_a_roll_out_may_be_chosen_with_the_cost():
    values = {"data": DATA, "transducer": {"cost": "rollout:bleu"}}
    chosen = parse(TransductionExperiment, {**values, "learning": {"roll_out": "reference"}})
    assert chosen.resolved().learning.roll_out == "reference"
    lols = parse(TransductionExperiment, {**values, "learning": {"algorithm": "lols"}}).resolved()
    assert (lols.learning.roll_out, lols.learning.rollouts.beta) == (None, 0.5)


def test_costs_that_do_not_exist():
    refused({"cost": "rouge"}, "`cost`: There is no cost called 'rouge'")
    refused({"cost": "rollout:rouge"}, "`cost`: There is no cost of roll-outs called 'rouge'")


def test_every_setting_is_told_in_one_line():
    for model in (TransducerSettings, TransductionFiles):
        for name, field in model.model_fields.items():
            assert field.description, name
            assert "\n" not in field.description, name


def test_a_warm_start_chooses_anew_what_weights_do_not_depend_on():
    fixed = TransducerSettings.model_fields.keys() - TransducerSettings.free
    assert TransducerSettings.free <= TransducerSettings.model_fields.keys()
    assert ModelSettings.free < TransducerSettings.free
    assert fixed == {
        "hf",
        "source_tokens",
        "target_tokens",
        "source_min_count",
        "target_min_count",
        "model",
        "size",
        "layers",
        "heads",
        "feedforward",
    }


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (
            {"source_tokens": "charcters"},
            "`source_tokens`: There is no kind of tokens called 'charcters'. Did you mean "
            "'characters'\\? Known: characters, words, FILE.model, FILE.json.$",
        ),
        ({"target_tokens": "bpe"}, "`target_tokens`: There is no kind of tokens called 'bpe'"),
        (
            {"cost": "bleu", "insertion": 2},
            "`insertion` is only for `cost` = edit, got cost = bleu; leave out insertion = 2.0, "
            "or choose edit.$",
        ),
        ({"cost": "hamming", "deletion": 0}, "`deletion` is only for `cost` = edit, .* hamming"),
        ({"cost": "chrf", "substitution": 0.5}, "`substitution` is only for `cost` = edit, got"),
        (
            {"insertion": 0, "deletion": 0},
            "`insertion` or `deletion` must be above 0, as otherwise every output is right, got "
            "0 for both; raise one of them.$",
        ),
        (
            {"length_factor": 0, "length_extra": 0},
            "`length_factor` or `length_extra` must be above 0, .* got 0 for both; raise",
        ),
        (
            {"model": "transformer", "size": 90, "heads": 4},
            "`heads` must divide `size`, got size = 90 and heads = 4; choose `heads` = 3, or "
            "another size.$",
        ),
        (
            {"model": "transformer", "size": 2, "heads": 10**12},
            "`heads` must divide .* choose `heads` = 2,",
        ),
        (
            {"heads": 8},
            "`heads` is only for `model` = transformer, got model = lstm; leave out heads = 8, or "
            "choose transformer.$",
        ),
        ({"feedforward": 64}, "`feedforward` is only for `model` = transformer, got model = lstm"),
        ({"model": "gru"}, "`model` must .*'lstm' or 'transformer', got 'gru'.$"),
        ({"insertion": -1}, "`insertion` must .*greater than or equal to 0, got -1.$"),
        ({"length_power": -1}, "`length_power` must .*greater than or equal to 0, got -1.$"),
        ({"length_factor": float("inf")}, "`length_factor` must .*finite number, got inf.$"),
        ({"finish": "last"}, "`finish` must .*'pad' or 'first', got 'last'.$"),
        ({"size": 0}, "`size` must .*greater than or equal to 1, got 0.$"),
        ({"sizes": 3}, "There is no setting called 'sizes'. Did you mean 'size'"),
    ],
)
def test_what_is_refused(values, match):
    refused(values, match)


def test_what_is_not():
    assert TransducerSettings(cost="bleu", insertion=1, deletion=1.0).insertion == 1
    assert TransducerSettings(insertion=0).deletion == 1
    assert TransducerSettings(size=90, heads=4).model == "lstm"  # it has no heads
    assert TransducerSettings(length_bonus=-0.5, length_extra=0).length_factor == 2


def test_references_are_one_or_several():
    values = {"data": {**DATA, "references": "two"}}
    refused(
        values, "`data.references` must .*'one' or 'several', got 'two'.$", TransductionExperiment
    )
    refused({"data": {}}, "`data.train` is required", TransductionExperiment)
    refused(
        {"data": {**DATA, "limit": 0}},
        "`data.limit` must .*equal to 1, got 0",
        TransductionExperiment,
    )


def test_a_run_of_an_earlier_version_with_heads_for_nothing():
    config = {"data": None, "transducer": {"model": "lstm", "heads": 8, "feedforward": 64}}
    upgraded = TransductionExperiment.upgraded(config)
    assert parse(TransductionExperiment, upgraded).transducer == TransducerSettings()
    used = {"data": None, "transducer": {"model": "transformer", "heads": 8}}
    assert TransductionExperiment.upgraded(used) == used
