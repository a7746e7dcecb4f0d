import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from tiny_trees import NETWORK, begin, conllu, load, sentences

from beamlearn.data.text import DataError
from beamlearn.estimators import BeamParser, BeamTagger
from beamlearn.estimators.parameters import RUN_ONLY
from beamlearn.tasks.parsing.attachment import arcs_of
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.settings import TextFiles
from beamlearn.training.settings import Learning, SettingsError
from beamlearn.training.trainer import fit

TINY = {
    **NETWORK,
    "word_size": 16,
    "encoder_size": 16,
    "hidden_size": 24,
    "width": 2,
    "epochs": 4,
    "batch_size": 2,
    "learning_rate": 0.05,
    "dropout": 0.0,
    "word_dropout": 0.0,
}
DATA = sentences(16, tagged=True)
X = DATA.words
Y = [arcs_of(tree) for tree in DATA.trees]
TAGGED = [list(zip(*both, strict=True)) for both in zip(DATA.words, DATA.tags, strict=True)]


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """Wrong arguments are to reach the library's own messages."""


def tiny(**changes):
    return BeamParser(**{**TINY, **changes})


@pytest.fixture(scope="module")
def fitted():
    return tiny().fit(X, Y)


@pytest.fixture(scope="module")
def brief():
    return tiny(epochs=1).fit(X, Y)


@pytest.fixture(scope="module")
def tagged():
    return tiny(tags="upos", epochs=2).fit(TAGGED, Y)


def same_weights(one, other):
    first, second = (e._fitted.model.scorer.state_dict() for e in (one, other))
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def test_parameters_are_the_settings():
    settings = {
        name: field.default
        for group in (Learning, ParserSettings)
        for name, field in group.model_fields.items()
        if name not in RUN_ONLY
    }
    assert BeamParser().get_params() == {**settings, "device": "cpu", "verbose": False}
    assert repr(BeamParser(system="covington")) == "BeamParser(system='covington')"


def test_it_learns(fitted):
    assert fitted.score(X, Y) > 0.7
    assert fitted.relations_ == ["det", "nmod:of", "nsubj", "obj", "punct", "root"]
    assert [record["epoch"] for record in fitted.history_] == [1, 2, 3, 4]


def test_predictions_have_the_form_of_y(fitted):
    found = fitted.predict([*X, [], ["unheard"]])
    assert found[-2:] == [[], [(0, "root")]]
    right = sum(
        a == b
        for one, two in zip(found[:-2], Y, strict=True)
        for a, b in zip(one, two, strict=True)
    )
    assert right / sum(map(len, X)) == pytest.approx(fitted.score(X, Y))
    assert fitted.evaluate(X, Y).attachment.las == pytest.approx(fitted.score(X, Y))
    assert fitted.score(X, fitted.predict(X)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("system", ["arc-eager", "arc-standard", "covington"])
def test_other_systems_learn_and_come_back(system, tmp_path):
    parser = tiny(system=system, epochs=3).fit(X, Y)
    assert parser.score(X, Y) > 0.4
    parser.save(tmp_path / "run")
    again = BeamParser.load(tmp_path / "run")
    assert again.get_params() == parser.get_params()
    assert again.predict_nbest(X[:4]) == parser.predict_nbest(X[:4])


def test_any_sequences_will_do(brief):
    heads = [[(np.int64(head), np.str_(name)) for head, name in tree] for tree in Y]
    words = ((np.str_(word) for word in words) for words in X)
    other = tiny(epochs=1).fit(words, (iter(tree) for tree in heads))
    assert same_weights(other, brief)
    assert other.predict(tuple(map(tuple, X))) == brief.predict(X)


def test_nbest_and_confidence(fitted):
    lists = fitted.predict_nbest(X[:5], n=4)
    sure = fitted.predict_confidence(X[:5], width=4)
    assert [ways[0].arcs for ways in lists] == fitted.predict(X[:5], width=4)
    for ways, row, words in zip(lists, sure, X, strict=False):
        scores = [way.score for way in ways]
        assert scores == sorted(scores, reverse=True)
        assert len({way.tree for way in ways}) == len(ways) == 4
        assert len(row) == len(words)
        assert all(0 < share <= 1 for share in row)
    with pytest.raises(ValueError, match="`n` must be a whole number of at least 1, got 0"):
        fitted.predict_nbest(X, n=0)
    assert fitted.predict([]) == fitted.predict_nbest([]) == fitted.predict_confidence([]) == []


def test_tags_come_with_the_words(tagged, fitted):
    assert tagged.score(TAGGED, Y) > 0.5
    assert [len(tree) for tree in tagged.predict(TAGGED)] == [len(words) for words in X]
    guessed = [[(word, "NOUN") for word in words] for words in X]
    assert tagged.predict_nbest(TAGGED, n=1) != tagged.predict_nbest(guessed, n=1)
    with pytest.raises(DataError, match=r"`X\[0\]\[0\]` must be a \(word, tag\) pair, got"):
        tagged.predict(X)
    with pytest.raises(
        DataError, match=r"`X\[0\]\[1\]` must be a \(word, tag\) pair, both strings, got \('"
    ):
        tagged.predict([[("the", "DET"), ("dog", None)]])
    with pytest.raises(DataError, match=r"`X\[0\]\[0\]` must be a word as a string, got \('the'"):
        fitted.predict(TAGGED)


def test_what_is_fitted_decides_how_sentences_are_read(tagged):
    kept = tagged.predict(TAGGED)
    tagged.set_params(tags="none")
    assert tagged.predict(TAGGED) == kept
    assert tagged.evaluate(TAGGED, Y).width == 2
    tagged.set_params(tags="upos")


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ([(0, "root"), (0, "obj")], r"`y\[3\]`: A tree must have one root, but words 1 and 2 both"),
        ([(2, "a"), (1, "b")], r"`y\[3\]`: A tree must have one root, but no word has head 0"),
        ([(0, "root")], r"`X\[3\]` and `y\[3\]` must be equally long, got 2 and 1; give a head"),
        (
            [(3, "a"), (0, "b")],
            r"`y\[3\]\[0\]`: A head must be the number of another word .* got 3",
        ),
        ([(1, "a"), (0, "b")], r"`y\[3\]\[0\]`: A head must be .* 1 for word 1; count words"),
        ([("2", "a"), (0, "b")], r"`y\[3\]\[0\]`: A head must be the number of another word .*'2'"),
        ([(2.0, "a"), (0, "b")], r"`y\[3\]\[0\]`: A head must be .*, got 2.0 for word 1"),
        ([2, 0], r"`y\[3\]\[0\]` must be a \(head, relation\) pair, got 2"),
        ([(2, "a"), "ab"], r"`y\[3\]\[1\]` must be a \(head, relation\) pair, got 'ab'"),
        ([(2, None), (0, "b")], r"`y\[3\]\[0\]` must have a relation as a string, got None"),
        ([(2, "a||b"), (0, "b")], r"`y\[3\]\[0\]`: A relation must not be empty, contain '\|\|'"),
        ([(2, ""), (0, "b")], r"`y\[3\]\[0\]`: A relation must not be empty"),
        ("ab", r"`y\[3\]` must be a list of \(head, relation\) pairs, got the string"),
    ],
)
def test_wrong_trees_are_refused(fitted, tree, sentence):
    words, trees = [*X[:3], ["dogs", "bark"]], [*Y[:3], tree]
    for use in (tiny().fit, fitted.score, fitted.evaluate):
        with pytest.raises(DataError, match=sentence):
            use(words, trees)


def test_cycles_are_refused(fitted):
    with pytest.raises(DataError, match=r"`y\[0\]`: .* here they lead from 2 to 3 to 2; correct"):
        fitted.score([["a", "b", "c"]], [[(0, "root"), (3, "x"), (2, "y")]])


def test_other_wrong_data(fitted):
    for words, trees, sentence in (
        ([], [], "`X` must have at least one word, got no sentence"),
        ("the dog", Y, "`X` must be a list of sentences, .* got 'the dog'"),
        (X, Y[:-1], "`X` and `y` must have equally many sentences, got 16 and 15"),
        (
            X,
            None,
            r"each a list of \(head, relation\) pairs, got None|requires y to be passed",
        ),
    ):
        for use in (tiny().fit, fitted.score, fitted.evaluate):
            with pytest.raises(DataError, match=sentence):
                use(words, trees)
    with pytest.raises(DataError, match=r"`y_dev\[0\]`: A tree must have one root"):
        tiny().fit(X, Y, [["a", "b"]], [[(2, "x"), (1, "y")]])


def test_wrong_values_are_refused_by_name():
    for wrong, sentence in (
        ({"system": "arc"}, "`system` must .*'arc-hybrid'"),
        ({"system": "covington", "crossing": "lift"}, "`crossing` must be keep for the system"),
        ({"word_dropout": 1.0}, "`word_dropout` must .* less than 1, got 1.0"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            tiny(**wrong).fit(X, Y)


def test_before_fit():
    parser = tiny()
    for use in (parser.predict, parser.predict_nbest, parser.predict_confidence):
        with pytest.raises(NotFittedError, match="This BeamParser is not fitted yet; call `fit`"):
            use(X)
    for use in (parser.score, parser.evaluate):
        with pytest.raises(NotFittedError):
            use(X, Y)
    assert not hasattr(parser, "relations_")


def test_relations_never_seen_are_errors(fitted):
    arcs = [(2, "unseen"), (0, "root")]
    assert fitted.score([["the", "dog"]], [arcs]) <= 0.5
    assert fitted.evaluate([["the", "dog"]], [arcs]).cost >= 1


def test_folders_of_the_command_line(brief, tmp_path):
    """The same sentences in a file come to the same weights."""
    (tmp_path / "train.conllu").write_text(conllu(DATA), encoding="utf-8")
    groups = [
        {name: value for name, value in brief.get_params().items() if name in group.model_fields}
        for group in (ParserSettings, Learning)
    ]
    experiment = ParsingExperiment(
        data=TextFiles(train=str(tmp_path / "train.conllu")),
        parser=ParserSettings(**groups[0]),
        learning=Learning(**groups[1]),
    )
    prepared = begin(experiment, tmp_path / "run")
    fit(prepared.training, prepared.checkpointer)
    loaded = BeamParser.load(tmp_path / "run")
    assert same_weights(loaded, brief)
    assert loaded.get_params() == brief.get_params()
    loaded.save(tmp_path / "copy")
    assert load(tmp_path / "copy")[1].parser == experiment.resolved().parser
    with pytest.raises(SettingsError, match="`task` must be 'tag', got 'parse'"):
        BeamTagger.load(tmp_path / "run")


@pytest.mark.parametrize("changes", [{"crossing": "lift"}, {"normalize": "none"}, {"seed": 3}])
def test_parameters_come_back_one_by_one(fitted, changes, tmp_path):
    parser = tiny(algorithm="log_likelihood", width=None, epochs=1, **changes).fit(X[:4], Y[:4])
    parser.save(tmp_path / "run")
    assert BeamParser.load(tmp_path / "run").get_params() == parser.get_params()


def test_cross_validation():
    selection = pytest.importorskip("sklearn.model_selection")
    scores = selection.cross_val_score(tiny(epochs=1), X[:6], Y[:6], cv=2)
    assert len(scores) == 2
    assert all(0 <= score <= 1 for score in scores)


def test_empty_sentences(brief):
    assert brief.predict([[]]) == [[]]
    assert brief.predict_confidence([[], X[0]])[0] == []
    assert brief.evaluate([[], *X[:2]], [[], *Y[:2]]).width == 2


def test_words_without_arcs_between_them():
    with pytest.raises(DataError, match="arcs between words, but every sentence"):
        tiny().fit([["yes"], ["no"]], [[(0, "root")], [(0, "root")]])


@pytest.mark.parametrize("relation", ["_", "a\tb", "a\n"])
def test_relations_that_no_file_can_hold(relation):
    with pytest.raises(DataError, match=r"`y\[0\]\[0\]` must have a relation that can be written"):
        tiny().fit([["a", "b"]], [[(2, relation), (0, "root")]])


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"lookahead": 0}, {"lookahead": 2, "tags": "upos"}])
def test_a_stream_gives_the_answers_of_predict(options, tmp_path):
    data = TAGGED if "tags" in options else X
    tiny(**options).fit(data, Y).save(tmp_path / "run")
    loaded = BeamParser.load(tmp_path / "run")
    assert loaded.lookahead == options["lookahead"]
    for sentence in [*data[:4], []]:
        stream = loaded.stream(width=3)
        for word in sentence:
            stream.feed(word)
        found = stream.finish()
        (expected,) = loaded.predict_nbest([sentence], n=3, width=3)
        assert [way.arcs for way in found.beam] == [way.arcs for way in expected]
        for one, two in zip(found.beam, expected, strict=True):
            assert one.score == pytest.approx(two.score, rel=1e-4, abs=1e-4)
            assert one.probability == pytest.approx(two.probability, rel=1e-3, abs=1e-5)


def test_a_stream_needs_a_lookahead(fitted):
    with pytest.raises(ValueError, match="trained with `lookahead` = all; train one with a number"):
        fitted.stream()
    with pytest.raises(SettingsError, match="`lookahead` must be all for `encoder` = convolution"):
        tiny(lookahead=1, encoder="convolution").fit(X, Y)
    with pytest.raises(SettingsError, match="`lookahead` must be .* or all, got 'auto'"):
        tiny(lookahead="auto").fit(X, Y)
