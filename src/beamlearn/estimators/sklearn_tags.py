"""What scikit-learn asks estimators for: its `Tags`, without the need to have it."""

from types import SimpleNamespace


def sklearn_tags() -> SimpleNamespace:
    """Not a classifier in its sense, as that has one label per example."""
    names = "one_d_array two_d_array three_d_array sparse categorical string dict"
    inputs = dict.fromkeys([*names.split(), "positive_only", "allow_nan", "pairwise"], False)
    names = "one_d_labels two_d_labels positive_only multi_output single_output"
    return SimpleNamespace(
        estimator_type=None,
        target_tags=SimpleNamespace(required=True, **dict.fromkeys(names.split(), False)),
        transformer_tags=None,
        classifier_tags=None,
        regressor_tags=None,
        array_api_support=False,
        no_validation=False,
        non_deterministic=False,
        requires_fit=True,
        _skip_test=True,
        input_tags=SimpleNamespace(**inputs),
    )
