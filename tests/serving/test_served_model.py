"""The batch law of a server: an input has the same answer, to the last bit, in any company."""

import json
from dataclasses import replace

import pytest
import torch
from served_models import KINDS, REQUEST, parser, tagger, transducer

from beamlearn.learning.iterates import Mixture
from beamlearn.serving.refusal import Refusal
from beamlearn.serving.served_model import Asked, ServedModel
from beamlearn.tasks.question import Words
from beamlearn.training.settings import SettingsError

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


def asked(model, inputs, width=3, nbest=3):
    """Inputs that go together, by their manner."""
    found = {}
    for sent in inputs:
        one = Asked(model.task.question(sent), width, nbest)
        found.setdefault(one.manner, []).append(one)
    return list(found.values())


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "hugging_face")) for kind in KINDS],
)
def test_alone_and_together(kind, tmp_path):
    if kind == "hugging_face":
        pytest.importorskip("transformers")
    model, inputs = KINDS[kind](tmp_path)
    for batch in asked(model, inputs):
        alone = [model.answer([one])[0] for one in batch]
        assert not any(isinstance(reply, Refusal) for reply in alone)
        assert len({json.dumps(reply) for reply in alone}) > 1
        for size in (2, 3, len(batch)):
            together = [
                reply
                for start in range(0, len(batch), size)
                for reply in model.answer(batch[start : start + size])
            ]
            assert json.dumps(together) == json.dumps(alone)
        assert json.dumps(model.answer(batch[::-1])) == json.dumps(alone[::-1])


def test_single_precision_says_the_same_with_other_last_digits(tmp_path):
    single, inputs = tagger(tmp_path, precision="single")
    double, _ = tagger(tmp_path)
    assert {p.dtype for p in single.model.scorer.parameters()} == {torch.float32}
    for one, two in zip(asked(single, inputs), asked(double, inputs), strict=True):
        for found, exact in zip(single.answer(one), double.answer(two), strict=True):
            assert found["tags"] == exact["tags"]
            assert found["confidence"] == pytest.approx(exact["confidence"], abs=1e-5)
            assert found["confidence"] != exact["confidence"]


def test_one_without_an_answer_does_not_spoil_the_others(tmp_path):
    model, _ = tagger(tmp_path)
    (batch,) = asked(model, ["the dog", " ", "dog barks", "冇乜嘢" * 9, "the"])
    replies = model.answer(batch)
    assert [isinstance(reply, Refusal) for reply in replies] == [False, True, False, True, False]
    assert str(replies[1]) == "An input must be one sentence with words, got 0."
    assert str(replies[3]).startswith("A text must have blanks between its words")
    assert {replies[1].status, replies[3].status} == {422}
    (good,) = asked(model, ["the dog", "dog barks", "the"])
    assert model.answer(good) == [replies[0], replies[2], replies[4]]


def test_what_a_model_fails_at_does_not_spoil_the_others(tmp_path, monkeypatch):
    model, inputs = transducer(tmp_path)
    (batch,) = asked(model, inputs)
    right, encode = model.answer(batch), model.model.encode

    def fails(source, *rest):
        if source == inputs[5]:
            raise RuntimeError("out of memory")
        return encode(source, *rest)

    monkeypatch.setattr(model.model, "encode", fails)
    replies = model.answer(batch)
    assert (replies[5].status, str(replies[5])) == (
        500,
        "The search failed: RuntimeError: out of memory",
    )
    several = [i for i, source in enumerate(inputs) if source == inputs[5]]
    for i, reply in enumerate(replies):
        assert isinstance(reply, Refusal) if i in several else reply == right[i]


def test_what_there_is_no_memory_for_is_refused(tmp_path):
    model, _ = tagger(tmp_path, request=replace(REQUEST, memory=50_000))
    (batch,) = asked(model, ["the dog", "the dog barks " * 20, "the"])
    replies = model.answer(batch)
    assert [isinstance(reply, Refusal) for reply in replies] == [False, True, False]
    assert str(replies[1]).startswith("A search may need 5e-05 GB of memory")


def test_a_parser_that_looks_at_tags_is_given_them(tmp_path):
    model, inputs = parser(tmp_path, tagged=True)
    for batch in asked(model, inputs):
        for reply in model.answer(batch):
            assert len(reply["heads"]) == len(reply["words"])
    (texts,) = asked(model, ["the dog"])
    assert "needs a tag in column UPOS" in str(model.answer(texts)[0])
    (bare,) = asked(model, [Words(["the", "dog"])])
    assert isinstance(model.answer(bare)[0], Refusal)


def test_a_ranker_does_not_number_its_users(tmp_path):
    model, inputs = KINDS["ranker"](tmp_path)
    (batch,) = asked(model, inputs)
    for reply in model.answer(batch):
        assert set(reply) == {"item", "confidence", "nbest"}
        assert len(reply["nbest"]) == 3
    (unknown,) = asked(model, ["nothing"])
    assert "items that the model knows" in str(model.answer(unknown)[0])


def test_a_mixture_is_refused(tmp_path):
    model, _ = tagger(tmp_path)
    model.model.mixture = Mixture(model.model.scorer, [model.model.scorer.state_dict()])
    with pytest.raises(SettingsError, match="`policy` must be one whose weights do not depend"):
        ServedModel("m", model.task, model.model, model.experiment, REQUEST)
