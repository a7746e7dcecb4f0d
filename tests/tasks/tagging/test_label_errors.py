import pytest
from seqeval.metrics import classification_report
from tiny_entities import SENTENCES

from beamlearn.evaluation.label_errors import Confusion
from beamlearn.tasks.tagging.bio import span_scores
from beamlearn.tasks.tagging.label_errors import label_errors

GUESSES = [
    ["O", "B-LOC", "I-PER", "O", "B-PER", "I-PER"],
    ["B-PER", "O"],
    ["B-LOC", "O", "B-PER"],
]


def test_types_of_spans_are_scored_as_seqeval_does():
    (entities, tags) = label_errors(SENTENCES.tags, GUESSES, bio=True).scores.values()
    expected = classification_report(SENTENCES.tags, GUESSES, output_dict=True)
    for one in entities:
        assert one.precision == pytest.approx(expected[one.label]["precision"])
        assert one.recall == pytest.approx(expected[one.label]["recall"])
        assert one.f1 == pytest.approx(expected[one.label]["f1-score"])
        assert one.gold == expected[one.label]["support"]
    whole = span_scores(SENTENCES.tags, GUESSES)
    right = sum(one.found for one in entities)
    assert right / sum(one.predicted for one in entities) == pytest.approx(whole["precision"])
    assert right / sum(one.gold for one in entities) == pytest.approx(whole["recall"])
    assert {one.label for one in tags} == {"O", "B-LOC", "I-LOC", "B-PER", "I-PER"}


def test_other_tags_have_no_spans():
    found = label_errors([["D", "N"]], [["D", "V"]], bio=False)
    assert list(found.scores) == ["tag"]
    assert found.confusions == [Confusion("N", "V", 1)]
