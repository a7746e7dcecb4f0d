import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from beamlearn.algorithms import ALGORITHMS, BASELINES, ROWS, TABLE_1, TABLE_2
from beamlearn.losses import LOSSES
from beamlearn.losses.baselines import SURROGATES
from beamlearn.strategies import STRATEGIES, Interpolate, as_strategy
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment
from beamlearn.training.choices import (
    ALGORITHM_NAMES,
    BASELINE_NAMES,
    FAMILY_NAMES,
    LOSS_NAMES,
    ROW_NAMES,
    STRATEGY_NAMES,
)
from beamlearn.training.settings import Learning, SettingsError, parse, read_toml

DATA = {"train": "train.conllu"}


def refused(values, match, model=Learning):
    with pytest.raises(SettingsError) as caught:
        parse(model, values, "my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: "), message
    assert re.search(match, message), message
    assert "\n" not in message
    return message


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "table"),
    [
        (ALGORITHM_NAMES, TABLE_1),
        (FAMILY_NAMES, TABLE_2),
        (BASELINE_NAMES, BASELINES),
        (ROW_NAMES, ROWS),
        (STRATEGY_NAMES, STRATEGIES),
        (LOSS_NAMES, SURROGATES),
    ],
)
def test_names_are_the_keys_of_their_tables(names, table):
    assert list(names) == list(table)


@pytest.mark.parametrize(
    ("key", "value", "near", "table"),
    [
        ("algorithm", "contnue", "continue", ROWS),
        ("strategy", "rest", "reset", STRATEGIES),
        ("loss", "perceptron_lst", "perceptron_last", SURROGATES),
    ],
)
def test_unknown_names_get_the_nearest_one(key, value, near, table):
    message = refused({key: value}, f"^my.toml: `{key}`: There is no {key} called '{value}'")
    known = ", ".join(table)
    assert message.endswith(f"Did you mean '{near}'? Known: {known}.")  # and nothing behind it


@pytest.mark.parametrize("key", ["algorithm", "strategy", "loss"])
def test_names_far_from_everything_get_no_hint(key):
    message = refused({key: "zzz"}, f"There is no {key} called 'zzz'. Known: ")
    assert "Did you mean" not in message


def test_unknown_keys_get_the_nearest_one():
    refused({"widht": 8}, "^my.toml: There is no setting called 'widht'. Did you mean 'width'?")
    with pytest.raises(SettingsError, match="^There is no setting called 'zzz'. Known: algorithm,"):
        parse(Learning, {"zzz": 8})


def test_unknown_keys_of_a_group_get_the_nearest_one_of_that_group():
    message = refused(
        {"data": DATA, "learning": {"widht": 8}}, "Did you mean 'width'?", TaggingExperiment
    )
    assert "Known: algorithm, strategy, loss, best, width, beam_weight" in message
    refused(
        {"data": {"trian": "f"}}, "setting called 'trian'. Did you mean 'train'?", TaggingExperiment
    )
    refused({"data": DATA, "lerning": {}}, "'lerning'. Did you mean 'learning'?", TaggingExperiment)


def test_python_gets_the_same_sentences():
    with pytest.raises(ValidationError, match="Did you mean 'bso'?"):
        Learning(algorithm="bsoo")


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Learning().epochs = 3  # type: ignore[misc] # that it cannot be set is the test


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kept", "final"),
    [("8", "8", 8), (8, "8", 8), ("1:8", "1:8", 8), ("8:1", "8:1", 1), ("1:1", "1", 1)],
)
def test_widths(value, kept, final):
    learning = parse(Learning, {"width": value})
    assert (str(learning.width), learning.decoding_width) == (kept, final)
    assert learning.model_dump(mode="json")["width"] == kept
    assert parse(Learning, learning.model_dump(mode="json")) == learning


@pytest.mark.parametrize("value", ["0", 0, "1:0", "-1", -1, 2.5, "2.5", "inf", "nan", " 8", "1_0"])
def test_widths_must_be_whole_and_positive(value):
    match = "`width` must be a whole number of at least 1, or two as in 1:8, got "
    refused({"width": value}, match + re.escape(repr(str(value))) + ".$")


@pytest.mark.parametrize("value", ["a", "", ":", "8:", "1:2:3", True, [1], {"from": 1}])
def test_widths_must_be_numbers(value):
    match = "`width` must be a number, or two as in 1:8, got "
    refused({"width": value}, match + re.escape(repr(str(value))) + ".$")


def test_no_width_is_the_row_of_the_algorithm():
    assert Learning(algorithm="dagger").decoding_width == 1
    assert Learning(algorithm="bso").decoding_width == 8


@pytest.mark.parametrize("beta", ["0.5", 0.5, 0, 1, "0.9:0", "0:1", 0.123456789, 1e-9])
def test_beta_with_interpolate(beta):
    learning = parse(Learning, {"strategy": "interpolate", "beta": beta})
    assert learning.model_dump(mode="json")["beta"] == str(beta)


@pytest.mark.parametrize("beta", ["2", -0.1, "0.5:1.5", "nan", "inf"])
def test_beta_must_be_a_probability(beta):
    match = "`beta` must be between 0 and 1, or two such numbers as in 0.9:0, got '.*'.$"
    refused({"strategy": "interpolate", "beta": beta}, match)


@pytest.mark.parametrize(
    "values",
    [{"strategy": "interpolate"}, {"beta": 0.5}, {"strategy": "reset", "beta": 0.5}],
)
def test_beta_goes_with_interpolate_only(values):
    match = "`beta` goes with the strategy interpolate, and only with it; give both .* or neither.$"
    refused(values, "^my.toml: " + match)
    refused({"data": DATA, "learning": values}, "^my.toml: " + match, TaggingExperiment)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"epochs": 0}, "`epochs` must .*greater than or equal to 1, got 0.$"),
        ({"epochs": "ten"}, "`epochs` must .*integer.*, got 'ten'.$"),
        ({"epochs": 1.5}, "`epochs` must .*integer.*, got 1.5.$"),
        ({"batch_size": 0}, "`batch_size` must .*greater than or equal to 1, got 0.$"),
        ({"learning_rate": 0}, "`learning_rate` must .*greater than 0, got 0.$"),
        ({"learning_rate": float("inf")}, "`learning_rate` must .*finite number, got inf.$"),
        ({"learning_rate": float("nan")}, "`learning_rate` must .*finite number, got nan.$"),
        ({"clip": -1.0}, "`clip` must .*greater than 0, got -1.0.$"),
        ({"patience": -1}, "`patience` must .*greater than or equal to 0, got -1.$"),
        ({"seed": -1}, "`seed` must .*greater than or equal to 0, got -1.$"),
        ({"schedule": "lin"}, "`schedule` must .*'constant', 'linear' or 'cosine', got 'lin'.$"),
        ({"strategy": 3}, "`strategy` must .*string, got 3.$"),
    ],
)
def test_values_out_of_range_or_of_the_wrong_type(values, match):
    refused(values, "^my.toml: " + match)


def test_what_is_missing_is_named():
    refused(
        {"data": {}}, "^my.toml: `data.train` is required but missing; set it.$", TaggingExperiment
    )


def test_groups_must_be_tables():
    refused(
        {"data": DATA, "learning": 3}, "`learning` must .*dictionary.*, got 3.$", TaggingExperiment
    )


# --- TOML ---------------------------------------------------------------------------------------


def test_read_toml(tmp_path):
    path = tmp_path / "my.toml"
    path.write_bytes(b'\xef\xbb\xbf[learning]\nwidth = "1:8"\nepochs = 3\n')  # as Notepad saves it
    values = read_toml(path)
    assert parse(Learning, values["learning"], str(path)) == Learning(width="1:8", epochs=3)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"epochs = \n", "my.toml must be a TOML file in UTF-8: .* line 1.*"),
        (b"[a]\nb = 1\nb = 2\n", "my.toml must be a TOML file in UTF-8: .*"),
        ('a = "é"'.encode("latin-1"), "my.toml must be a TOML file in UTF-8: .*0xe9"),
        ("a = 1".encode("utf-16"), "my.toml must be a TOML file in UTF-8: .*0xff"),
    ],
)
def test_bad_toml(tmp_path, content, match):
    path = tmp_path / "my.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=match):
        read_toml(path)


def test_no_toml(tmp_path):
    match = r"none.toml cannot be read \(No such file or directory\); check the path.$"
    with pytest.raises(SettingsError, match=match):
        read_toml(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match=r"cannot be read \(Is a directory\)"):
        read_toml(tmp_path)


def test_wrong_type_in_a_file_names_key_and_file(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text('[learning]\nepochs = "many"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"my.toml: `learning.epochs` must .*, got 'many'\.$"):
        parse(TaggingExperiment, {"data": DATA, **read_toml(path)}, str(path))


# --- what the choices come to -------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 200))
def test_width_goes_through_every_width_in_the_first_half(first, last, rounds):
    widths = [Learning(width=f"{first}:{last}").width_at(rounds)(t) for t in range(1, rounds + 1)]
    step = 1 if last >= first else -1
    ramp = list(range(first, last + step, step))
    assert set(widths) <= set(ramp)
    assert widths == sorted(widths, key=ramp.index)  # never back
    assert widths[0] == first or rounds < 2 * len(ramp)
    assert set(widths[rounds // 2 :]) == {last} or rounds < 2 * len(ramp)
    assume(rounds // 2 >= len(ramp))
    half = widths[: rounds // 2]
    assert set(half) == set(ramp)
    times = [half.count(width) for width in ramp]
    assert max(times) - min(times) <= 1


@pytest.mark.parametrize("rounds", [1, 2, 3, 100])
def test_one_width_stays(rounds):
    assert {Learning(width=5).width_at(rounds)(t) for t in range(1, rounds + 1)} == {5}
    assert Learning(algorithm="bso").width_at(rounds)(1) == 8


@pytest.mark.parametrize("name", ["oracle", "stop", "reset", "continue"])
def test_collection_by_name(name):
    assert Learning(algorithm="bso", strategy=name).collection(10) == as_strategy(name)


@pytest.mark.parametrize("name", [*ALGORITHMS, *BASELINES])
def test_rows_of_the_tables(name):
    learning = Learning(algorithm=name)
    row = ROWS[name]
    if row.beta is None:
        assert learning.collection(10) is row.strategy
    else:
        assert [learning.collection(5).at(t) for t in (1, 3, 5)] == [1.0, 0.5, 0.0]
    assert (learning.rollouts is not None) == (row.out is not None)
    assert learning.surrogate is row.loss
    assert learning.decoding_width == row.width


def test_roll_outs():
    assert Learning().rollouts is None
    found = Learning(roll_out="0.25", roll_outs=3).rollouts
    assert (found.beta, found.per_beam) == (0.25, 8)
    assert Learning(algorithm="lols").rollouts.beta == 0.5
    assert Learning(algorithm="lols", roll_out="learned").rollouts.beta == 0.0
    refused({"roll_out": "both"}, "`roll_out` must be learned, reference or a probability")
    refused({"roll_out": "2"}, "got '2'")


def test_loss_by_name():
    assert Learning(algorithm="bso", loss="upper_bound").surrogate is LOSSES["upper_bound"]
    assert Learning(loss="weighted_pairs_all").surrogate is LOSSES["weighted_pairs_all"]


def test_by_default_likelihood_and_the_beam_are_learned_together():
    learning = Learning()
    assert learning.algorithm == "joint"
    assert learning.collection(10) == as_strategy("continue")
    assert learning.surrogate.__name__ == "log_loss_neighbors(best='all')"
    assert learning.decoding_width == 8
    assert learning.weight_at(10)(1) == 0.1
    choices = ROWS["joint"].choices
    assert choices["loss"].__name__ == learning.surrogate.__name__
    assert (choices["beam_weight"], choices["width"]) == (0.1, 8)


def test_rows_of_table_1_have_no_beam_weight():
    for name in (*ALGORITHMS, *BASELINES):
        assert Learning(algorithm=name).weight_at(10) is None
        assert "beam_weight" not in ROWS[name].choices


def test_the_beam_weight_may_change_wait_and_skip_rounds():
    def weights(**choices):
        at = Learning(**choices).weight_at(8)
        return [at(t) for t in range(1, 9)]

    assert weights(beam_weight="0:0.7") == pytest.approx([t / 10 for t in range(8)])
    assert weights(beam_weight=0.5, beam_start=0.5) == [0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5]
    assert weights(beam_weight=0.5, beam_every=4) == [0, 0, 0, 2.0, 0, 0, 0, 2.0]
    assert weights(algorithm="continue", beam_weight=0.5) == [0.5] * 8
    refused({"beam_weight": "-1"}, "`beam_weight` must be a number of at least 0")
    refused({"algorithm": "bso", "beam_every": 2}, "`beam_every` goes with a `beam_weight`")
    refused({"algorithm": "bso", "beam_start": 0.5}, "`beam_start` goes with a `beam_weight`")
    refused({"beam_restart": 0.5}, "`beam_restart` goes with a `beam_start` above 0")


def test_collection_interpolates_on_a_schedule():
    constant = Learning(strategy="interpolate", beta="0.25").collection(10)
    falling = Learning(strategy="interpolate", beta="0.9:0").collection(10)
    assert isinstance(constant, Interpolate)
    assert isinstance(falling, Interpolate)
    assert [constant.at(t) for t in (1, 5, 10)] == [0.25] * 3
    assert [falling.at(t) for t in (1, 4, 10, 11)] == pytest.approx([0.9, 0.6, 0.0, 0.0])


@pytest.mark.parametrize(
    ("choices", "local"),
    [
        ({"algorithm": "log_likelihood"}, True),
        ({"algorithm": "dagger"}, True),
        ({"algorithm": "continue"}, False),
        ({"algorithm": "continue", "width": 1}, True),
        ({"algorithm": "continue", "width": "1:1"}, True),
        ({"algorithm": "continue", "width": "8:1"}, False),
        ({"algorithm": "continue", "width": "1:8"}, False),
        ({"algorithm": "log_likelihood", "loss": "log_loss_beam"}, False),
        ({"algorithm": "bso", "width": 1}, False),
    ],
)
def test_local(choices, local):
    assert Learning(**choices).local is local


# --- losses of the final beam -------------------------------------------------------------------


def test_minimum_risk_needs_rivals():
    refused({"loss": "minimum_risk", "width": 1}, "`width` must be at least 2 for minimum_risk")
    refused({"loss": "minimum_risk", "width": "1:4"}, "`width` must be at least 2")
    for strategy in ("stop", "reset"):
        chosen = {"loss": "minimum_risk", "strategy": strategy}
        refused(chosen, "`strategy` must lead to a full final beam for minimum_risk")
    assert Learning(algorithm="minimum_risk", width="2:4").surrogate.final
    assert Learning(loss="minimum_risk", strategy="interpolate", beta=0.5).surrogate.final


def test_the_risk_of_a_sample_needs_a_sample():
    refused({"loss": "minimum_risk_sampled"}, "`strategy` must be sample for minimum_risk_sampled")
    learning = Learning(algorithm="minimum_risk_sampled", width=1)
    assert learning.samples
    assert Learning(strategy="sample").samples
    assert not Learning().samples
    for settings in (TaggerSettings(), ParserSettings()):
        assert settings.resolved(learning).normalize == "log_softmax"
        assert settings.resolved(Learning(algorithm="minimum_risk")).normalize == "none"


def test_the_best_neighbor_can_be_chosen():
    loss = Learning(loss="log_loss_beam", best="best_scored").surrogate
    assert loss.__name__ == "log_loss_beam(best='best_scored')"
    assert Learning(loss="log_loss_neighbors", width=1, best="best_scored").local
    refused(
        {"loss": "weighted_pairs_all", "best": "first"},
        "`best` goes with a loss that has one best neighbor, but weighted_pairs_all has none",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = " + "[" * 20_000, "nested too deeply"),
        (f"a = {'9' * 5000}", "Exceeds the limit"),
    ],
)
def test_toml_that_python_gives_up_on(tmp_path, text, reason):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=f"settings.toml must be a TOML file.*{reason}"):
        read_toml(path)


def test_a_wrong_value_that_fills_a_file_is_not_repeated():
    for values in ({"width": "x" * 5000}, {"w" * 5000: 1}, {"reduction": "x" * 5000}):
        with pytest.raises(SettingsError) as error:
            parse(Learning, values)
        assert len(str(error.value)) < 2000
