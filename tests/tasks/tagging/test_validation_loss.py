import json

import torch
from tiny import NETWORK
from tiny_entities import SENTENCES, train_entities

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.tasks.tagging.bio import span_scores
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.sentences import TaggedSentences
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.task import TAGGING

FOUND = Evaluation(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 3.0]), torch.tensor([1, 1]))


def tagger(data):
    return Tagger.build(TaggerSettings(**NETWORK), data.words, data.tags)


def test_spans_are_chosen_by_their_f1():
    model = tagger(SENTENCES)
    tags = dict(tag(model, SENTENCES.words, 2))
    found = span_scores(SENTENCES.tags, [tags[number].tags for number in range(len(SENTENCES))])
    scores = TAGGING.validation_scores(model, SENTENCES, 2)
    assert {metric.name: value for metric, value in scores.items()} == found
    assert TAGGING.validation_loss(model, FOUND, scores) == 1 - found["f1"]


def test_other_labels_are_chosen_by_their_cost():
    data = TaggedSentences([["the", "dog"], ["dogs"]], [["DET", "NOUN"], ["NOUN"]])
    scores = TAGGING.validation_scores(tagger(data), data, 2)
    assert scores == {}
    assert TAGGING.validation_loss(tagger(data), FOUND, scores) == 2.0


def test_every_validation_has_the_numbers_of_spans(tmp_path, capsys, no_shape_checks):
    run = train_entities(tmp_path)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("epoch")]
    found = [
        record
        for line in (run / "rounds.jsonl").read_text().splitlines()
        if "epoch" in (record := json.loads(line))
    ]
    assert len(lines) == len(found) == 2
    for line, record in zip(lines, found, strict=True):
        f1, precision, recall = (record[f"validation_{n}"] for n in ("f1", "precision", "recall"))
        assert record["validation_loss"] == 1 - f1
        said = f"span F1 {f1:.2%}, precision {precision:.2%}, recall {recall:.2%}"
        assert f"%, {said}" in line
