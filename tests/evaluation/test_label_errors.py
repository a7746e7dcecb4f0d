import pytest

from beamlearn.evaluation.label_errors import (
    Confusion,
    LabelErrors,
    LabelScore,
    confusions_in,
    label_scores,
)

PAIRS = [("N", "N"), ("N", "V"), ("N", "V"), ("V", "V"), ("D", None), (None, "D"), ("A", "A")]


def test_scores_count_what_is_right_and_what_was_predicted():
    scores = {one.label: one for one in label_scores(PAIRS)}
    noun, verb = scores["N"], scores["V"]
    assert (noun.precision, noun.recall, noun.f1) == (1.0, pytest.approx(1 / 3), 0.5)
    assert (verb.precision, verb.recall, verb.f1) == (pytest.approx(1 / 3), 1.0, 0.5)
    assert (scores["D"].gold, scores["D"].predicted, scores["D"].f1) == (1, 1, 0.0)
    assert scores["A"].f1 == 1.0


def test_labels_with_the_most_errors_come_first():
    assert [(one.label, one.errors) for one in label_scores(PAIRS)] == [
        *(("D", 2), ("N", 2), ("V", 2)),
        ("A", 0),
    ]


def test_confusions_are_pairs_that_differ():
    assert confusions_in(PAIRS) == [
        Confusion("N", "V", 2),
        Confusion("D", None, 1),
        Confusion(None, "D", 1),
    ]


def test_a_label_that_never_occurs_has_no_rates():
    nothing = LabelScore("X", 0, 0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)


def test_in_json():
    found = LabelErrors({"tag": label_scores(PAIRS[:2])}, confusions_in(PAIRS[:2])).to_json()
    noun, verb = found["labels"]["tag"]
    assert noun == {
        "label": "N",
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "gold": 2,
        "predicted": 1,
    }
    assert (verb["label"], verb["gold"], verb["predicted"]) == ("V", 0, 1)
    assert found["confusions"] == [{"gold": "N", "predicted": "V", "count": 1}]
