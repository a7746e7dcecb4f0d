from dataclasses import fields

import pytest
import torch
from taggers import SPANS, TAGS, WORDS, small

import beamlearn as bl
from beamlearn.evaluation.calibration import calibration_error
from beamlearn.tasks.tagging.bio import span_scores
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.report import TaggingReport, report

UNHEARD = [["The", "dog"], ["Rain", "runs", "unheard-of"], []]
"""With a label that training does not have."""
UNSEEN = [["D", "N"], ["N", "V", "FOREIGN"], []]


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def by_hand(tagger, words, tags, width):
    """The same numbers, sentence by sentence."""
    found = [next(tag(tagger, [sentence], width))[1] for sentence in words]
    right = [
        [a == b for a, b in zip(g, f.tags, strict=True)] for g, f in zip(tags, found, strict=True)
    ]
    flat = [r for row in right for r in row]
    known = [word in {w for s in WORDS for w in s} for sentence in words for word in sentence]
    paths = [
        bl.beam_trajectory(tagger.space([tagger.encode(w, t)]), tagger.scorer, width)
        for w, t in zip(words, tags, strict=True)
    ]
    sure = torch.tensor([c for f in found for c in f.confidence], dtype=torch.float64)
    return {
        "accuracy": mean(flat),
        "known_accuracy": mean([r for r, k in zip(flat, known, strict=True) if k]),
        "unknown_accuracy": mean([r for r, k in zip(flat, known, strict=True) if not k]),
        "sentence_accuracy": mean([all(row) for row in right]),
        "cost": mean([row.count(False) for row in right]),
        "increases_per_example": mean([int(path.increases) for path in paths]),
        "calibration_error": calibration_error(sure, torch.tensor(flat)),
    }, [f.tags for f in found]


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize(
    "options", [{}, {"context": "streaming"}, {"model": "linear"}], ids=["sent", "stream", "linear"]
)
@pytest.mark.parametrize(
    ("words", "tags"), [(WORDS, TAGS), (UNHEARD, UNSEEN)], ids=["training", "new"]
)
def test_a_report_is_what_the_sentences_say(words, tags, options, width):
    tagger = small(**options)
    with torch.no_grad():
        expected, _ = by_hand(tagger, words, tags, width)
    found = report(tagger, words, tags, width, batch_size=2)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name
    assert found.width == width
    assert found.words_per_second > 0
    assert found.f1 is None
    if words is UNHEARD:
        assert found.cost >= 1 / 3


def test_spans_are_scored_where_tags_are_spans():
    for constrained in (False, True):
        tagger = small(SPANS, constrained=constrained)
        found = report(tagger, WORDS, SPANS, 3)
        _, best = by_hand(tagger, WORDS, SPANS, 3)
        for name, value in span_scores(SPANS, best).items():
            assert getattr(found, name) == value
        assert found.cost == pytest.approx(
            mean([wrong(*both) for both in zip(SPANS, best, strict=True)])
        )


def wrong(gold, found):
    return sum(a != b for a, b in zip(gold, found, strict=True))


def test_search_errors_are_those_of_the_evaluation():
    for seed in range(5):
        tagger = small(seed=seed)
        found = report(tagger, WORDS, TAGS, 1)
        errors = []
        for words, tags in zip(WORDS, TAGS, strict=True):
            space = tagger.space([tagger.encode(words)])
            best = bl.beam_search(space, tagger.scorer, 1)
            right = tagger.lexicon.number_tags(tags).tolist()
            if best.outputs[0] != right:
                ranked = bl.exhaustive_search(space, tagger.scorer).nbest[0]
                score = next(h.score for h in ranked if h.output == right)
                errors.append(score > float(best.scores[0]))
        assert found.search_error_rate == pytest.approx(mean(errors) or 0.0)


def test_numbers_that_there_are():
    found = report(small(), WORDS, TAGS, 2).to_json()
    assert found.keys() == {f.name for f in fields(TaggingReport)} - {
        *("unknown_accuracy", "f1", "precision", "recall"),
        *("profile", "evaluation", "label_errors"),
    }
    assert found["width"] == 2


def test_only_empty_sentences():
    found = report(small(), [[], []], [[], []], 2)
    assert (found.accuracy, found.sentence_accuracy, found.cost) == (0.0, 1.0, 0.0)
    assert found.known_accuracy is None
    assert (found.calibration_error, found.search_error_rate) == (0.0, 0.0)


def test_nothing_to_report():
    with pytest.raises(ValueError, match="at least one evaluation, got none"):
        report(small(), [], [], 2)


def test_words_and_tags_go_together():
    with pytest.raises(ValueError, match="must have one tag for each word"):
        report(small(), [["the", "dog"]], [["D"]], 2)


def test_the_tagger_is_left_as_it_was():
    tagger = small(dropout=0.5)
    tagger.scorer.train()
    before = {name: value.clone() for name, value in tagger.scorer.state_dict().items()}
    one, two = (report(tagger, WORDS, TAGS, 2) for _ in range(2))
    assert one.accuracy == two.accuracy
    assert tagger.scorer.training
    assert all(torch.equal(before[n], value) for n, value in tagger.scorer.state_dict().items())
