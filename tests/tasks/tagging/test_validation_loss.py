import torch
from tiny import NETWORK

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
    data = TaggedSentences(
        [["in", "New", "York", "he", "met", "Anna"], ["Anna", "left"]],
        [["O", "B-LOC", "I-LOC", "O", "O", "B-PER"], ["B-PER", "O"]],
    )
    model = tagger(data)
    tags = dict(tag(model, data.words, 2))
    f1 = span_scores(data.tags, [tags[number].tags for number in range(2)])["f1"]
    assert TAGGING.validation_loss(model, FOUND, data, 2) == 1 - f1


def test_other_labels_are_chosen_by_their_cost():
    data = TaggedSentences([["the", "dog"], ["dogs"]], [["DET", "NOUN"], ["NOUN"]])
    assert TAGGING.validation_loss(tagger(data), FOUND, data, 2) == 2.0
