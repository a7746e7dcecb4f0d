import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from tiny_pairs import NETWORK, begin, load, pairs, tsv

from beamlearn.data.text import DataError
from beamlearn.estimators import BeamTagger, BeamTransducer
from beamlearn.estimators.parameters import RUN_ONLY
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.training.settings import Learning, SettingsError
from beamlearn.training.trainer import fit

TINY = {
    **NETWORK,
    "target_tokens": "words",
    "size": 16,
    "width": 2,
    "epochs": 8,
    "batch_size": 4,
    "learning_rate": 0.03,
    "dropout": 0.0,
}
DATA = pairs(40)
X, Y = DATA.sources, [text for (text,) in DATA.references]


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """Wrong arguments are to reach the library's own messages."""


def tiny(**changes):
    return BeamTransducer(**{**TINY, **changes})


@pytest.fixture(scope="module")
def fitted():
    return tiny().fit(X, Y, X, Y)


@pytest.fixture(scope="module")
def brief():
    return tiny(epochs=1).fit(X, Y)


def same_weights(one, other):
    first, second = (e._fitted.model.scorer.state_dict() for e in (one, other))
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def test_parameters_are_the_settings():
    settings = {
        name: field.default
        for group in (Learning, TransducerSettings)
        for name, field in group.model_fields.items()
        if name not in RUN_ONLY
    }
    assert BeamTransducer().get_params() == {**settings, "device": "cpu", "verbose": False}
    assert repr(BeamTransducer(model="transformer")) == "BeamTransducer(model='transformer')"


def test_it_learns(fitted):
    assert fitted.score(X, Y) > 0.4
    assert sorted(fitted.tokens_) == sorted({token for text in Y for token in text.split()})
    assert [record["epoch"] for record in fitted.history_] == list(range(1, 9))


def test_predictions_are_strings(fitted):
    found = fitted.predict([*X, "", "unheard"])
    assert len(found) == len(X) + 2
    assert all(type(text) is str for text in found)
    right = sum(one == two for one, two in zip(found[: len(X)], Y, strict=True))
    assert right / len(X) == pytest.approx(fitted.score(X, Y))
    assert fitted.evaluate(X, Y).wer == pytest.approx(1 - fitted.score(X, Y))
    assert fitted.score(X, fitted.predict(X)) == 1.0


def test_several_references(fitted):
    several = [(text, "a") if i % 2 else [text] for i, text in enumerate(Y)]
    assert fitted.score(X, several) >= fitted.score(X, Y)
    assert fitted.score(X, [["nowhere", *fitted.predict([source])] for source in X]) == 1
    learned = tiny(epochs=1).fit(X, several)
    assert learned.evaluate(X, several).wer <= 1


def test_spaces_between_words_do_not_count(fitted):
    assert fitted.score(X, [f" {text}  ".replace(" ", "  ") for text in Y]) == fitted.score(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"model": "transformer", "learning_rate": 0.01},
        {"target_tokens": "characters", "length_extra": 9},
        {"algorithm": "log_likelihood", "width": None},
        {"cost": "chrf"},
        {"finish": "first", "length_power": 1.0},
    ],
)
def test_other_settings_learn_and_come_back(changes, tmp_path):
    transducer = tiny(epochs=2, **changes).fit(X, Y)
    costs = [record["validation_cost"] for record in transducer.history_]
    assert all(cost >= 0 for cost in costs)
    transducer.save(tmp_path / "run")
    again = BeamTransducer.load(tmp_path / "run")
    assert again.get_params() == transducer.get_params()
    assert again.predict_nbest(X[:4]) == transducer.predict_nbest(X[:4])


def test_any_sequences_will_do(brief):
    other = tiny(epochs=1).fit(np.array(X), ((np.str_(text),) for text in Y))
    assert same_weights(other, brief)
    assert other.predict(tuple(X)) == brief.predict(text for text in X)


def test_nbest_and_confidence(fitted):
    lists = fitted.predict_nbest(X[:5], n=4)
    sure = fitted.predict_confidence(X[:5], width=4)
    assert [ways[0].output for ways in lists] == fitted.predict(X[:5], width=4)
    assert [ways[0].probability for ways in lists] == pytest.approx(sure)
    for ways in lists:
        scores = [way.score for way in ways]
        assert scores == sorted(scores, reverse=True)
        assert len({way.output for way in ways}) == len(ways) <= 4
        assert all(" ".join(way.tokens) == way.output for way in ways)
    with pytest.raises(ValueError, match="`n` must be a whole number of at least 1, got 0"):
        fitted.predict_nbest(X, n=0)
    assert fitted.predict([]) == fitted.predict_nbest([]) == fitted.predict_confidence([]) == []


def test_empty_strings_are_data():
    transducer = tiny(epochs=1, batch_size=2).fit(["", "a", "b"] * 4, ["x", "", "y"] * 4)
    assert len(transducer.predict(["", "a"])) == 2
    assert transducer.evaluate(["", ""], ["x", ""]).width == 2
    assert transducer.score([""], [""]) in (0, 1)


@pytest.mark.parametrize(
    ("texts", "right", "sentence"),
    [
        ("abc", Y, "`X` must be a list of strings, got 'abc'"),
        (None, Y, "`X` must be a list of strings, got None"),
        (["a", 3], ["x", "y"], r"`X\[1\]` must be a string, got 3 \(int\); convert it with"),
        ([["a"]], ["x"], r"`X\[0\]` must be a string, got \['a'\] \(list\)"),
        ([b"a"], ["x"], r"`X\[0\]` must be a string, got b'a' \(bytes\)"),
        (["a"], "x", "`y` must be a list of strings, or of lists of them .* got 'x'"),
        (["a"], [3], r"`y\[0\]` must be a string, got 3 \(int\)"),
        (["a", "b"], ["x", ["y", None]], r"`y\[1\]\[1\]` must be a string, got None"),
        (["a", "b"], ["x", []], r"`y\[1\]` must have at least one reference, got none"),
        (["a", "b"], ["x"], "`X` and `y` must have equally many strings, got 2 and 1"),
        ([], [], "`X` must have at least one string, got none"),
    ],
)
def test_wrong_data_is_refused(brief, texts, right, sentence):
    for use in (tiny().fit, brief.score, brief.evaluate):
        with pytest.raises(DataError, match=sentence):
            use(texts, right)


def test_other_wrong_data(brief):
    with pytest.raises(DataError, match=r"`X\[0\]` must be a string, got 3"):
        brief.predict([3])
    with pytest.raises(DataError, match=r"`y_dev\[0\]` must be a string, got 3"):
        tiny().fit(X, Y, ["a"], [3])
    with pytest.raises(DataError, match=r"^`y\[1\]`: A target may have 6 tokens, .* has 9; set"):
        tiny().fit(["a", "b", "c"], ["a", "b b b b b b b b b", "c"])


def test_wrong_values_are_refused_by_name():
    for wrong, sentence in (
        ({"model": "gru"}, "`model` must .*'lstm' or 'transformer'"),
        ({"target_tokens": "wrds"}, "`target_tokens`: There is no kind .* mean 'words'"),
        ({"insertion": 0, "deletion": 0}, "`insertion` or `deletion` must be above 0"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            tiny(**wrong).fit(X, Y)


def test_before_fit():
    transducer = tiny()
    for use in (transducer.predict, transducer.predict_nbest, transducer.predict_confidence):
        with pytest.raises(NotFittedError, match="This BeamTransducer is not fitted yet; call"):
            use(X)
    for use in (transducer.score, transducer.evaluate):
        with pytest.raises(NotFittedError):
            use(X, Y)
    assert not hasattr(transducer, "tokens_")


def test_tokens_never_seen_are_errors(brief):
    assert brief.score(["a"], ["unseen"]) == 0
    assert brief.evaluate(["a"], ["unseen"]).cost >= 1


def test_folders_of_the_command_line(brief, tmp_path):
    """The same pairs in a file come to the same weights."""
    (tmp_path / "train.tsv").write_text(tsv(DATA), encoding="utf-8")
    groups = [
        {name: value for name, value in brief.get_params().items() if name in group.model_fields}
        for group in (TransducerSettings, Learning)
    ]
    experiment = TransductionExperiment(
        data=TransductionFiles(train=str(tmp_path / "train.tsv")),
        transducer=TransducerSettings(**groups[0]),
        learning=Learning(**groups[1]),
    )
    prepared = begin(experiment, tmp_path / "run")
    fit(prepared.training, prepared.checkpointer)
    loaded = BeamTransducer.load(tmp_path / "run")
    assert same_weights(loaded, brief)
    assert loaded.get_params() == brief.get_params()
    loaded.save(tmp_path / "copy")
    assert load(tmp_path / "copy")[1].transducer == experiment.resolved().transducer
    with pytest.raises(SettingsError, match="`task` must be 'tag', got 'transduce'"):
        BeamTagger.load(tmp_path / "run")


def test_cross_validation():
    selection = pytest.importorskip("sklearn.model_selection")
    scores = selection.cross_val_score(tiny(epochs=1), X[:6], Y[:6], cv=2)
    assert len(scores) == 2
    assert all(0 <= score <= 1 for score in scores)


def test_outputs_that_match_a_pattern():
    sources, y = ["one", "two"] * 4, ["1", "22"] * 4
    transducer = BeamTransducer(width=2, epochs=1, size=8, batch_size=2).fit(sources, y)
    assert transducer.predict_matching(["one", "two", ""], "12{2}") == ["122"] * 3
