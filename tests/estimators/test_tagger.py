import copy
import json

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks as checks
from tiny import begin, load, resume

from beamlearn.data.text import DataError
from beamlearn.estimators import BeamParser, BeamTagger, BeamTransducer
from beamlearn.estimators.parameters import RUN_ONLY
from beamlearn.tasks.registry import TASKS
from beamlearn.tasks.tagging.decode import Tagged
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.training.run import RunError
from beamlearn.training.settings import Learning, SettingsError, groups_in
from beamlearn.training.trainer import fit

TINY = {
    "width": 2,
    "epochs": 3,
    "batch_size": 4,
    "learning_rate": 0.1,
    "dropout": 0.0,
    "context": "streaming",
    "min_count": 1,
    "word_size": 8,
    "affix_size": 8,
    "history_size": 8,
    "tag_size": 4,
}
X = [["the", "dog", "barks"], ["dogs", "bark"], ["a", "cat", "sees", "the", "dog"], ["cats"]] * 3
Y = [["D", "N", "V"], ["N", "V"], ["D", "N", "V", "D", "N"], ["N"]] * 3


def tiny(**changes):
    return BeamTagger(**{**TINY, **changes})


@pytest.fixture(scope="module")
def fitted():
    return tiny().fit(X, Y)


def weights(tagger):
    return tagger._fitted.model.scorer.state_dict()


def same_weights(one, other):
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


# --- parameters ----------------------------------------------------------------------------------


def test_parameters_are_the_settings():
    settings = {
        name: field.default
        for group in (Learning, TaggerSettings)
        for name, field in group.model_fields.items()
        if name not in RUN_ONLY
    }
    assert BeamTagger().get_params() == {**settings, "device": "cpu", "verbose": False}


def test_parameters_are_stored_as_they_come():
    width, rate = object(), object()
    tagger = BeamTagger().set_params(width=width, learning_rate=rate)
    assert tagger.width is width
    assert tagger.get_params(deep=False)["learning_rate"] is rate


@pytest.mark.usefixtures("no_shape_checks")
def test_the_constructor_checks_nothing():
    assert BeamTagger(width="wide", context=5).get_params()["context"] == 5


def test_parameters_have_names():
    with pytest.raises(TypeError, match="positional"):
        BeamTagger(8)


def test_unknown_parameters_are_refused():
    tagger = tiny()
    with pytest.raises(ValueError, match="(?s)Invalid parameter 'witdh'.*'width'"):
        tagger.set_params(witdh=3)
    with pytest.raises(ValueError, match="Invalid parameter '_fitted'"):
        tagger.set_params(_fitted=None)


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(BeamTagger()) == "BeamTagger()"
    assert repr(BeamTagger(algorithm="bso", width=4)) == "BeamTagger(algorithm='bso', width=4)"


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epochs": 0}, "`epochs` must .* greater than or equal to 1, got 0"),
        ({"width": "wide"}, "`width` must be a number, or two as in 1:8, got 'wide'"),
        ({"width": 0}, "`width` must be a whole number of at least 1"),
        ({"context": "sentense"}, "`context` must .*'streaming' or 'sentence', got 'sentense'"),
        ({"loss": "uper_bound"}, "`loss`: There is no loss called 'uper_bound'. Did you mean"),
        ({"beta": 0.5}, "`beta` goes with the strategy interpolate"),
        ({"dropout": 1.0}, "`dropout` must .* less than 1, got 1.0"),
        ({"device": "toaster"}, "`device` must be one that PyTorch has here, got 'toaster'"),
    ],
)
def test_wrong_values_are_refused_by_name(wrong, sentence):
    with pytest.raises(SettingsError, match=sentence):
        tiny(**wrong).fit(X, Y)


def test_constraints_need_bio():
    with pytest.raises(ValueError, match="`constrained` needs BIO tags .* leave `constrained` off"):
        tiny(constrained=True).fit(X, Y)


# --- fit and predict -----------------------------------------------------------------------------


def test_it_learns(fitted):
    assert fitted.score(X, Y) == 1.0
    assert fitted.predict([["the", "cats", "bark"], []]) == [["D", "N", "V"], []]
    assert fitted.classes_ == ["D", "N", "V"]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "linear", "buckets": 4096, "learning_rate": 0.3},
        {"context": "sentence", "encoder_size": 8},
        {"algorithm": "bso", "width": "1:2"},
        {"strategy": "interpolate", "beta": "0.9:0", "schedule": "constant"},
    ],
)
def test_other_settings_learn(changes):
    tagger = tiny(**changes).fit(X, Y)
    assert tagger.score(X, Y) > 0.8
    assert tagger.predict([[], ["dogs"]])[0] == []


def test_history_has_the_validations(fitted):
    assert [record["epoch"] for record in fitted.history_] == [1, 2, 3]
    assert set(fitted.history_[0]) == {
        "round",
        "epoch",
        "validation_loss",
        "validation_cost",
        "validation_increases",
        "best",
    }
    assert fitted.history_[0]["best"]


def test_fit_starts_anew_and_repeats_itself(fitted):
    other = tiny().fit(X[:4], Y[:4])
    assert not same_weights(other, fitted)
    assert other.fit(X, Y) is other
    assert same_weights(other, fitted)
    assert other.history_ == fitted.history_
    assert not same_weights(tiny(seed=1).fit(X, Y), fitted)


def test_global_random_numbers_are_left_alone(fitted):
    torch.manual_seed(5)
    np.random.seed(5)
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    tiny(epochs=1).fit(X, Y).predict(X)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()


def objects(rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = [np.array(row) for row in rows]
    return array


@pytest.mark.parametrize(
    "convert",
    [
        lambda rows: ((value for value in row) for row in rows),
        lambda rows: tuple(map(tuple, rows)),
        objects,
    ],
    ids=["generators", "tuples", "numpy"],
)
def test_any_sequences_will_do(fitted, convert):
    tagger = tiny().fit(convert(X), convert(Y))
    assert same_weights(tagger, fitted)
    assert {type(label) for label in tagger.classes_} == {str}
    assert tagger.predict(convert(X)) == fitted.predict(X)
    assert tagger.score(convert(X), convert(Y)) == 1.0


def test_without_dev_sentences_every_tenth_is_held_out(fitted):
    held, rest = [0, 10], [i for i in range(12) if i not in (0, 10)]
    parts = ([side[i] for i in places] for places in (rest, held) for side in (X, Y))
    assert same_weights(tiny().fit(*parts), fitted)


def test_dev_sentences_choose_the_weights():
    """What an untrained tagger says is forgotten more and more."""
    first = tiny(epochs=1, learning_rate=1e-9).fit(X, Y, X, Y).predict(X)
    tagger = tiny(learning_rate=0.02, schedule="constant").fit(X, Y, X, first)
    costs = [record["validation_cost"] for record in tagger.history_]
    assert costs[0] < costs[-1]
    words = sum(map(len, X))
    assert words * (1 - tagger.score(X, first)) / len(X) == pytest.approx(costs[0], abs=1e-6)


def test_sentences_without_words_are_left_out(fitted):
    assert same_weights(tiny().fit([[], *X, []], [[], *Y, []], None, None), fitted)


def test_the_width_is_that_of_the_training(fitted):
    sentence = [["sees", "sees", "the"]]
    assert len(fitted.predict_nbest(sentence, n=2)[0]) == 2
    assert fitted.evaluate(X, Y).width == 2
    assert fitted.evaluate(X, Y, width=3).width == 3
    assert tiny(algorithm="log_likelihood", width=None).fit(X, Y).evaluate(X, Y).width == 1
    with pytest.raises(ValueError, match="`width` must be at least 1, got 0"):
        fitted.predict(X, width=0)


def test_a_wider_beam_can_answer_differently():
    """An undertrained tagger that is not normalized depends on its beam."""
    tagger = tiny(epochs=1, learning_rate=1e-6).fit(X, Y)
    words = [[*X[2], *X[0], *X[1]]]
    one, many = (tagger.predict_nbest(words, n=1, width=width)[0][0] for width in (1, 200))
    assert tagger.predict(words, width=200)[0] == list(many.tags)
    assert many.score > one.score


def test_nbest_and_confidence(fitted):
    sentences = [X[2], [], X[1]]
    lists = fitted.predict_nbest(sentences, n=4, width=1)
    assert [len(ways) for ways in lists] == [4, 1, 4]
    assert all(isinstance(way, Tagged) for ways in lists for way in ways)
    for ways in lists:
        scores = [way.score for way in ways]
        assert scores == sorted(scores, reverse=True)
        assert sum(way.probability for way in ways) == pytest.approx(1)
    assert [list(ways[0].tags) for ways in lists] == fitted.predict(sentences, width=4)
    sure = fitted.predict_confidence(sentences, width=4)
    assert [len(row) for row in sure] == [5, 0, 2]
    for row, ways in zip(sure, lists, strict=True):
        for place, share in enumerate(row):
            agreeing = [w.probability for w in ways if w.tags[place] == ways[0].tags[place]]
            assert share == pytest.approx(sum(agreeing))
    with pytest.raises(ValueError, match="`n` must be a whole number of at least 1, got 0"):
        fitted.predict_nbest(sentences, n=0)


def test_probabilities_of_all_labels(fitted):
    sentences = [X[2], [], X[1]]
    lists = fitted.predict_nbest(sentences, n=4)
    found = fitted.predict_proba(sentences, width=4)
    assert [table.shape for table in found] == [(5, 3), (0, 3), (2, 3)]
    for table, ways in zip(found, lists, strict=True):
        assert isinstance(table, np.ndarray)
        assert table.sum(axis=1) == pytest.approx(np.ones(len(table)))
        for word, row in enumerate(table):
            for label, share in zip(fitted.classes_, row, strict=True):
                agreeing = [way.probability for way in ways if way.tags[word] == label]
                assert share == pytest.approx(sum(agreeing))
    for table, labels, sure in zip(
        found, fitted.predict(sentences, 4), fitted.predict_confidence(sentences, 4), strict=True
    ):
        columns = [fitted.classes_.index(label) for label in labels]
        assert table[np.arange(len(labels)), columns] == pytest.approx(np.array(sure))
    (alone,) = fitted.predict_proba([X[2]], width=4)
    assert alone == pytest.approx(found[0], rel=1e-4)  # up to the rounding of the network
    (greedy,) = fitted.predict_proba([X[2]], width=1)
    assert set(greedy.flatten()) == {0.0, 1.0}


def test_labels_never_seen_are_errors(fitted):
    assert fitted.score([["the", "dog"]], [["D", "ADJ"]]) == 0.5
    assert fitted.evaluate([["the", "dog"]], [["D", "ADJ"]]).accuracy == 0.5
    assert fitted.evaluate([["the", "dog"]], [["D", "ADJ"]]).cost == 1.0


def test_nothing_to_predict(fitted):
    assert fitted.predict([]) == []
    assert fitted.predict_nbest([]) == fitted.predict_confidence([]) == []
    assert fitted.predict_proba([]) == []


def test_before_fit():
    tagger = tiny()
    for use in (
        lambda: tagger.predict(X),
        lambda: tagger.predict_nbest(X),
        lambda: tagger.predict_confidence(X),
        lambda: tagger.predict_proba(X),
        lambda: tagger.score(X, Y),
        lambda: tagger.evaluate(X, Y),
        lambda: tagger.save("anywhere"),
        lambda: tagger.classes_,
        lambda: tagger.history_,
    ):
        with pytest.raises(NotFittedError, match="not fitted yet; call `fit`"):
            use()
    assert not hasattr(tagger, "classes_")
    assert issubclass(NotFittedError, ValueError)


def test_deep_copies_are_independent(fitted):
    other = copy.deepcopy(fitted)
    assert same_weights(other, fitted)
    with torch.no_grad():
        next(other._fitted.model.scorer.parameters()).add_(1)
    assert not same_weights(other, fitted)


def test_verbose_reports_on_standard_error(capsys):
    tiny(epochs=2).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    tiny(epochs=2, verbose=True).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "epoch 2/2" in err
    assert "words/s" in err
    assert "accuracy" in err


# --- wrong data ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(
    ("words", "labels", "sentence"),
    [
        ([], [], "`X` must have at least one word, got no sentence"),
        ([[], []], [[], []], "`X` must have at least one word, got only empty sentences"),
        ("the dog", [["D", "N"]], "`X` must be a list of sentences, .* got 'the dog'"),
        ([["the"]], None, "each a list of labels, got None|requires y to be passed"),
        (
            [["the"], "a dog"],
            [["D"], ["D", "N"]],
            r"`X\[1\]` must be a list of words, got the string 'a dog'; give a list, as in "
            r"\['a', 'dog'\]",
        ),
        ([["the"]], ["D"], r"`y\[0\]` must be a list of labels, got the string 'D'"),
        ([["the"], 5], [["D"], ["N"]], r"`X\[1\]` must be a list of words, got 5"),
        ([b"the"], [["D"]], r"`X\[0\]` must be a list of words, got b'the'"),
        ([["the", 7]], [["D", "N"]], r"`X\[0\]\[1\]` must be a word as a string, got 7 \(int\)"),
        ([["the"]], [[None]], r"`y\[0\]\[0\]` must be a label as a string, got None \(NoneType\)"),
        (X, Y[:-1], "`X` and `y` must have equally many sentences, got 12 and 11"),
        (
            [["the"], ["a", "dog"]],
            [["D"], ["D"]],
            r"`X\[1\]` and `y\[1\]` must be equally long, got 2 and 1",
        ),
    ],
)
def test_wrong_data_is_refused(fitted, words, labels, sentence):
    for use in (tiny().fit, fitted.score, fitted.evaluate):
        with pytest.raises(DataError, match=sentence):
            use(words, labels)


@pytest.mark.usefixtures("no_shape_checks")
def test_wrong_sentences_are_not_predicted(fitted):
    for use in (fitted.predict, fitted.predict_nbest, fitted.predict_confidence):
        with pytest.raises(DataError, match=r"`X\[0\]` must be a list of words"):
            use(["the dog"])


def test_wrong_dev_sentences():
    with pytest.raises(DataError, match="go together, got only `X_dev`; give `y_dev` too"):
        tiny().fit(X, Y, X)
    with pytest.raises(DataError, match="go together, got only `y_dev`; give `X_dev` too"):
        tiny().fit(X, Y, y_dev=Y)
    with pytest.raises(DataError, match="`X_dev` must have at least one word"):
        tiny().fit(X, Y, [[]], [[]])
    with pytest.raises(DataError, match=r"`X_dev\[0\]` and `y_dev\[0\]` must be equally long"):
        tiny().fit(X, Y, [["the"]], [[]])


def test_one_sentence_needs_dev_sentences():
    with pytest.raises(DataError, match="must have at least 2 sentences with words, got 1"):
        tiny().fit([["the"], []], [["D"], []])
    assert tiny().fit([["the"]], [["D"]], [["the"]], [["D"]]).predict([["a"]]) == [["D"]]


# --- run folders ---------------------------------------------------------------------------------


def test_save_and_load(fitted, tmp_path):
    fitted.save(tmp_path / "run")
    other = BeamTagger.load(tmp_path / "run")
    assert same_weights(other, fitted)
    assert other.get_params() == fitted.get_params()
    assert other.classes_ == fitted.classes_
    assert other.history_ == fitted.history_
    assert other.predict_nbest(X) == fitted.predict_nbest(X)
    other.save(tmp_path / "again")
    assert same_weights(BeamTagger.load(tmp_path / "again"), fitted)
    assert same_weights(other.fit(X, Y), fitted)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": "1:2", "strategy": "interpolate", "beta": "0.9:0"},
        {"width": None, "algorithm": "dagger"},
        {"width": 1, "beta": 0.5, "strategy": "interpolate", "normalize": "none"},
    ],
)
def test_parameters_come_back(changes, tmp_path):
    tagger = tiny(epochs=1, **changes).fit(X, Y)
    tagger.save(tmp_path / "run")
    assert BeamTagger.load(tmp_path / "run").get_params() == tagger.get_params()


def test_what_is_saved_is_what_was_fitted(fitted, tmp_path):
    tagger = copy.deepcopy(fitted).set_params(width=7, history_size=99)
    assert tagger.evaluate(X, Y).width == 2
    tagger.save(tmp_path / "run")
    assert BeamTagger.load(tmp_path / "run").get_params() == fitted.get_params()


def file_in(folder):
    """The same sentences in a file."""
    lines = ("\n".join(map("\t".join, zip(*pair, strict=True))) for pair in zip(X, Y, strict=True))
    (folder / "train.tsv").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return TaggingFiles(train=str(folder / "train.tsv"), column="2")


def test_folders_of_the_command_line(fitted, tmp_path):
    """The same sentences in a file come to the same weights."""
    groups = [
        {name: value for name, value in TINY.items() if name in group.model_fields}
        for group in (TaggerSettings, Learning)
    ]
    experiment = TaggingExperiment(
        data=file_in(tmp_path),
        tagger=TaggerSettings(**groups[0]),
        learning=Learning(**groups[1]),
    )
    prepared = begin(experiment, tmp_path / "run")
    fit(prepared.training, prepared.checkpointer)
    loaded = BeamTagger.from_run(tmp_path / "run")
    assert same_weights(loaded, fitted)
    assert same_weights(BeamTagger.load(tmp_path / "run"), fitted)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.history_ == fitted.history_
    loaded.save(tmp_path / "copy")
    assert load(tmp_path / "copy")[1].column == "2"
    with pytest.raises(RunError, match="holds a model, but no checkpoint of its training"):
        resume(tmp_path / "copy")


@pytest.mark.usefixtures("no_shape_checks")
def test_other_policies_of_a_run(tmp_path):
    learning = Learning(epochs=1, batch_size=4, average=True, mixture=2)
    prepared = begin(TaggingExperiment(data=file_in(tmp_path), learning=learning), tmp_path / "run")
    fit(prepared.training, prepared.checkpointer)
    best, average, mixture = (
        BeamTagger.from_run(tmp_path / "run", policy=policy)
        for policy in ("best", "average", "mixture")
    )
    assert not same_weights(best, average)
    assert len(mixture.predict(X)) == len(X)
    with pytest.raises(RunError, match="A single model can be saved, got the mixture of several"):
        mixture.save(tmp_path / "copy")
    with pytest.raises(ValueError, match="no policy called 'avrage'. Did you mean 'average'"):
        BeamTagger.from_run(tmp_path / "run", policy="avrage")


def test_the_command_line_reads_saved_folders(fitted, tmp_path):
    fitted.save(tmp_path / "run")
    tagger, experiment = load(tmp_path / "run")
    assert experiment.data is None
    assert tagger.lexicon.tags == ("D", "N", "V")
    assert experiment.learning.decoding_width == 2
    with pytest.raises(SettingsError, match="this tagger was fitted in memory"):
        resume(tmp_path / "run")


def test_a_folder_is_saved_to_once(fitted, tmp_path):
    fitted.save(tmp_path)
    with pytest.raises(RunError, match="already holds a run; save to another folder"):
        fitted.save(tmp_path)


def test_nothing_to_load(tmp_path):
    with pytest.raises(RunError, match="is not a run folder"):
        BeamTagger.load(tmp_path)
    with pytest.raises(SettingsError, match="`device` must be one that PyTorch has here"):
        BeamTagger.load(tmp_path, device="toaster")


# --- scikit-learn --------------------------------------------------------------------------------


def test_notebooks_show_the_parameters_and_whether_it_is_fitted(fitted):
    shown, other = fitted._repr_html_(), tiny(width=7)._repr_html_()
    assert "BeamTagger(" in shown
    assert "history_size" in shown
    assert ">Fitted<" in shown
    assert ">Not fitted<" in other
    assert set(fitted._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_clones_have_the_parameters_and_nothing_else(fitted):
    base = pytest.importorskip("sklearn.base")
    other = base.clone(fitted)
    assert other.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        other.predict(X)


def test_cross_validation():
    selection = pytest.importorskip("sklearn.model_selection")
    tagger = tiny(epochs=1)
    scores = selection.cross_val_score(tagger, X, Y, cv=2)
    by_hand = [tagger.fit(X[6:], Y[6:]).score(X[:6], Y[:6])]
    by_hand += [tagger.fit(X[:6], Y[:6]).score(X[6:], Y[6:])]
    assert scores.tolist() == by_hand


def test_grid_search():
    selection = pytest.importorskip("sklearn.model_selection")
    grid = {"learning_rate": np.array([1e-6, 0.1]), "width": np.array([1])}
    search = selection.GridSearchCV(tiny(epochs=2), grid, cv=2).fit(X, Y)
    assert search.best_params_["learning_rate"] == 0.1
    assert search.best_estimator_.evaluate(X, Y).width == 1
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)


def test_scikit_learn_knows_whether_it_is_fitted(fitted):
    validation = pytest.importorskip("sklearn.utils.validation")
    exceptions = pytest.importorskip("sklearn.exceptions")
    validation.check_is_fitted(fitted)
    with pytest.raises(exceptions.NotFittedError):
        validation.check_is_fitted(tiny())


SETTABLE = "check_do_not_raise_errors_in_init_or_set_param"
"""The name of a check; newer versions of scikit-learn add an s."""


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("estimator", [BeamTagger, BeamParser, BeamTransducer])
@pytest.mark.parametrize(
    "check",
    [
        checks.check_parameters_default_constructible,
        checks.check_no_attributes_set_in_init,
        checks.check_get_params_invariance,
        checks.check_set_params,
        getattr(checks, SETTABLE, None) or getattr(checks, f"{SETTABLE}s"),
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_valid_tag_types,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_of_scikit_learn(estimator, check):
    """Those that need no matrix of numbers; sentences and trees are none."""
    check(estimator.__name__, estimator())


@pytest.mark.parametrize("estimator", [BeamTagger, BeamParser, BeamTransducer])
def test_defaults_are_those_of_the_settings(estimator):
    experiment = TASKS[estimator._task.name].experiment
    groups = groups_in(experiment)
    defaults = {
        name: field.get_default(call_default_factory=True)
        for group in ("learning", experiment.group)
        for name, field in groups[group].model_fields.items()
    }
    own = {"device": "cpu", "verbose": False}
    kept = {name: value for name, value in defaults.items() if name not in RUN_ONLY}
    assert estimator().get_params() == kept | own


# --- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lookahead", [0, 2])
def test_a_stream_gives_the_answers_of_predict(lookahead, tmp_path):
    tiny(context="auto", lookahead=lookahead).fit(X, Y).save(tmp_path / "run")
    loaded = BeamTagger.load(tmp_path / "run")
    for sentence in [["the", "cats", "bark"], ["bark", "the"], []]:
        stream = loaded.stream(width=3)
        for word in sentence:
            stream.feed(word)
        found = stream.finish()
        (expected,) = loaded.predict_nbest([sentence], n=3, width=3)
        assert [way.tags for way in found.beam] == [way.tags for way in expected]
        assert list(found.tags) == loaded.predict([sentence], width=3)[0]
        for one, two in zip(found.beam, expected, strict=True):
            assert one.score == pytest.approx(two.score, rel=1e-5)
            assert one.probability == pytest.approx(two.probability, rel=1e-4)


def test_a_stream_needs_a_lookahead(fitted):
    assert len(fitted.stream().feed("the").beam) == fitted.width
    with pytest.raises(ValueError, match="trained with `lookahead` = all; train one with a number"):
        tiny(context="sentence", epochs=1).fit(X, Y).stream()
    with pytest.raises(NotFittedError):
        tiny().stream()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, ("sentence", "all")),
        ({"lookahead": "all"}, ("sentence", "all")),
        ({"context": "sentence"}, ("sentence", "all")),
        ({"context": "streaming"}, ("streaming", 0)),
        ({"lookahead": 0}, ("streaming", 0)),
        ({"lookahead": "2"}, ("streaming", 2)),
        ({"context": "streaming", "lookahead": 3}, ("streaming", 3)),
    ],
)
def test_context_and_lookahead_agree(given, kept):
    settings = TaggerSettings(**given).resolved(Learning())
    assert (settings.context, settings.lookahead) == kept
    assert settings.resolved(Learning()) == settings
    again = TaggerSettings(**settings.model_dump())
    assert again.ahead == TaggerSettings(**given).ahead


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"lookahead": -1}, "`lookahead` must be a whole number of at least 0, or all, got -1"),
        ({"lookahead": "some"}, "`lookahead` must be a whole number .* got 'some'"),
        ({"lookahead": True}, "`lookahead` must be a whole number .* got True"),
        ({"lookahead": 1, "context": "sentence"}, "`lookahead` must be all with `context` = sent"),
        ({"lookahead": "all"}, "`lookahead` must be a number of words with `context` = streaming"),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_wrong_lookaheads_are_refused(wrong, sentence):
    with pytest.raises(SettingsError, match=sentence):
        tiny(**wrong).fit(X, Y)


@pytest.mark.parametrize(("context", "ahead"), [("sentence", None), ("streaming", 0)])
def test_folders_of_earlier_versions(context, ahead, tmp_path):
    """They say `lookahead` = 0 also where the whole sentence is seen."""
    fitted = tiny(context=context, epochs=1).fit(X, Y)
    fitted.save(tmp_path / "run")
    file = tmp_path / "run" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["tagger"]["lookahead"] = 0
    del config["tagger"]["encoder"]
    file.write_text(json.dumps(config), encoding="utf-8")
    loaded = BeamTagger.load(tmp_path / "run")
    assert loaded._fitted.experiment.tagger.ahead == ahead
    assert same_weights(loaded, fitted)
    assert loaded.predict(X) == fitted.predict(X)


def test_labels_that_match_a_pattern():
    sentences = [["the", "dog", "barks"], ["dogs", "bark"]] * 5
    y = [["D", "N", "V"], ["N", "V"]] * 5
    tagger = BeamTagger(width=2, epochs=1, min_count=1, history_size=8).fit(sentences, y)
    found = tagger.predict_matching([["the", "dog", "barks"], ["dogs"]], "V* [D N]", width=3)
    assert [len(labels) for labels in found] == [3, 1]
    assert all(labels[:-1] == ["V"] * (len(labels) - 1) for labels in found)
    assert all(labels[-1] in "DN" for labels in found)
