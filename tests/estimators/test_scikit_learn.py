"""What scikit-learn expects of estimators: its own checks, and the same on sentences."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from beamlearn.estimators import BeamParser, BeamTagger, BeamTransducer

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")
TINY = {"width": 2, "epochs": 2, "batch_size": 2, "learning_rate": 0.1, "dropout": 0.0}
WORDS = {**TINY, "min_count": 1, "word_size": 8, "affix_size": 4, "history_size": 8}
X = [["the", "dog", "barks"], ["dogs", "bark"], ["a", "cat", "sees", "dogs"], ["cats"]] * 2
TAGS = [["D", "N", "V"], ["N", "V"], ["D", "N", "V", "N"], ["N"]] * 2
TREES = [
    [(2, "det"), (3, "nsubj"), (0, "root")],
    [(2, "nsubj"), (0, "root")],
    [(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj")],
    [(0, "root")],
] * 2
CASES = {
    BeamTagger: ({**WORDS, "context": "streaming", "tag_size": 4}, X, TAGS),
    BeamParser: ({**WORDS, "encoder_size": 8, "hidden_size": 8, "action_size": 4}, X, TREES),
    BeamTransducer: (
        {**TINY, "size": 8},
        ["ab", "ba", "abb", "a"] * 2,
        ["xy", "yx", "xyy", "x"] * 2,
    ),
}
EACH = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
APPLY = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_fit1d",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_requires_y_none",
    "check_set_params",
    "check_valid_tag_types",
}
"""The checks that need no sentences, or need none to be accepted."""
NUMBERS = {
    "check_array_api_input",
    "check_complex_data",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
}
"""The checks that fit a matrix of numbers. `test_what_holds_for_matrices_holds_for_sentences` does
on sentences what can be done on them."""


def make(kind, **changes):
    return kind(**{**CASES[kind][0], **changes})


@pytest.fixture(scope="module")
def fitted():
    return {kind: make(kind).fit(*data) for kind, (_, *data) in CASES.items()}


# --- scikit-learn's checks -----------------------------------------------------------------------


@EACH
def test_check_estimator(kind):
    """It leaves out nearly all checks, as the tags say that `X` is no matrix."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        results = check_estimator(make(kind))
    assert {result["status"] for result in results} == {"passed"}


@EACH
def test_every_check_that_applies_passes(kind):
    """All checks, as if it took matrices: those fail that fit one, because it is refused."""

    class TakesMatrices(kind):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.two_d_array = True
            return tags

    TakesMatrices.__name__ = kind.__name__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(TakesMatrices(**CASES[kind][0]), on_fail=None, on_skip=None)
    by_name = {result["check_name"]: result for result in results}
    known = {name.removesuffix("s") for name in APPLY | NUMBERS}
    assert {name.removesuffix("s") for name in by_name} <= known
    for name, result in by_name.items():
        if name.removesuffix("s") in {one.removesuffix("s") for one in APPLY}:
            assert result["status"] == "passed", (name, result["exception"])
    failed = [one["exception"] for one in results if one["status"] == "failed"]
    refused = [str(error) for error in failed if "must be a" in str(error)]
    assert len(refused) > 10
    assert sum(one["status"] == "passed" for one in results) >= len(APPLY) - 1


# --- the same on sentences -----------------------------------------------------------------------


@EACH
def test_what_holds_for_matrices_holds_for_sentences(kind, fitted):
    parameters, sources, right = CASES[kind]
    estimator = fitted[kind]
    assert estimator.get_params().items() >= parameters.items()  # fit changes none
    check_is_fitted(estimator)
    with pytest.raises(NotFittedError):
        make(kind).predict(sources)
    before = vars(estimator).copy()
    answers = estimator.predict(sources)
    assert vars(estimator) == before  # predict changes nothing
    assert 0.0 <= estimator.score(sources, right) <= 1.0
    order = [3, 1, 0, 2]
    assert estimator.predict([sources[i] for i in order]) == [answers[i] for i in order]
    assert [estimator.predict([source])[0] for source in sources[:4]] == answers[:4]
    again = pickle.loads(pickle.dumps(estimator))
    assert again.predict(sources) == answers
    other = make(kind)
    assert other.fit(sources, right) is other
    assert other.predict(sources) == answers
    assert other.fit(sources, right).predict(sources) == answers


@EACH
def test_matrices_are_refused_in_a_sentence(kind):
    for matrix in (np.zeros((3, 2)), np.full((3, 2), np.nan), np.zeros((3, 0)), [[1.5]]):
        with pytest.raises(ValueError, match="`X"):
            make(kind).fit(matrix, CASES[kind][2][: len(matrix)])
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        make(kind).fit(CASES[kind][1], None)


# --- its tools -----------------------------------------------------------------------------------


@EACH
def test_clones_are_not_fitted(kind, fitted):
    other = clone(fitted[kind])
    assert other.get_params() == fitted[kind].get_params()
    with pytest.raises(NotFittedError):
        other.predict(CASES[kind][1])


@pytest.mark.slow
@EACH
def test_searches_and_cross_validation(kind):
    _, sources, right = CASES[kind]
    search = GridSearchCV(make(kind, epochs=1), {"width": [1, 2]}, cv=2).fit(sources, right)
    assert search.best_params_["width"] in (1, 2)
    assert search.predict(sources) == search.best_estimator_.predict(sources)
    scores = cross_val_score(make(kind, epochs=1), sources, right, cv=2)
    by_hand = make(kind, epochs=1).fit(sources[4:], right[4:]).score(sources[:4], right[:4])
    assert scores[0] == by_hand


def lowered(sentences):
    return [[word.lower() for word in sentence] for sentence in sentences]


def test_a_pipeline_hands_sentences_on():
    pipeline = make_pipeline(FunctionTransformer(lowered), make(BeamTagger))
    assert isinstance(pipeline, Pipeline)
    pipeline.fit(X, TAGS)
    shouted = [[word.upper() for word in sentence] for sentence in X]
    assert pipeline.predict(shouted) == pipeline.predict(X)
    assert pipeline.score(shouted, TAGS) == pipeline.score(X, TAGS)
    other = clone(pipeline).set_params(beamtagger__width=1)
    assert (other[-1].width, pipeline[-1].width) == (1, 2)
    with pytest.raises(NotFittedError):
        other.predict(X)
