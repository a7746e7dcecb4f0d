import pytest
import torch
from tiny_pairs import MODELS, pairs, small

import beamlearn as bl
from beamlearn.evaluation.calibration import calibration_error
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.transduction import report as reports
from beamlearn.tasks.transduction.decode import Transduced, Transduction, transduce
from beamlearn.tasks.transduction.report import bleu, chrf, compared, report, token_error_rate

models = pytest.mark.parametrize("model", MODELS)
pytestmark = pytest.mark.usefixtures("no_shape_checks")


def test_errors_per_token_of_the_nearest_reference():
    assert token_error_rate([list("abc")], [[list("abd"), list("xyz")]]) == pytest.approx(1 / 3)
    assert token_error_rate([["a"], list("bcde")], [[["a"]], [list("bc")]]) == pytest.approx(2 / 3)
    several = [[list("abcdef"), list("a")]]
    assert token_error_rate([list("ab")], several) == pytest.approx(1 / 1)


def test_errors_of_empty_outputs_and_references():
    assert token_error_rate([[]], [[[]]]) == 0
    assert token_error_rate([["a"]], [[[]]]) == 1  # no token of a reference to count by
    assert token_error_rate([[], ["a"]], [[["a", "b"]], [["a"]]]) == pytest.approx(2 / 3)
    assert token_error_rate([[]], [[["a"], []]]) == 0


def test_bleu_and_chrf_are_fractions():
    right = [("the cat sat on the mat",), ("a dog",)]
    assert bleu([text for (text,) in right], right) == pytest.approx(1)
    assert chrf([text for (text,) in right], right) == pytest.approx(1)
    assert bleu(["x", "y"], right) < 0.1
    assert chrf(["x", "y"], right) == 0
    # "a b c d" against "a b c e": 3/4, 2/3, 1/2 of the n-grams, and half of 1 for the longest
    expected = (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d"], [("a b c e",)]) == pytest.approx(expected)


def test_any_number_of_references():
    outputs, right = ["a b c d e", "f"], [("x", "a b c d e"), ("f",)]
    assert (bleu(outputs, right), chrf(outputs, right)) == pytest.approx((1, 1))
    assert chrf(outputs, [one[:1] for one in right]) < 1


def test_empty_texts_have_a_bleu_and_a_chrf():
    assert bleu([""], [("",)]) == chrf([""], [("",)]) == 0
    assert chrf(["", "ab"], [("",), ("ab",)]) == 1


def test_bleu_gives_no_advice(capsys, caplog):
    bleu(["a b ."] * 120, [("a b .",)] * 120)
    assert not capsys.readouterr().err
    assert not caplog.records


def test_texts_are_compared_as_they_come_back_from_tokens():
    words = small(target_tokens="words")
    assert list(compared(words, [3], [("a  b ", "a")])) == [(3, {"a b", "a"})]
    letters = small(target_tokens="characters")
    assert list(compared(letters, [3], [("a  b ", "")])) == [(3, {"a  b ", ""})]


def canned(sources, *lists):
    """A decoder that gives these lists, the shortest source first; all shares are equal."""
    ways = [
        Transduction(tuple(Transduced(text, tuple(text.split()), 0.0, 1 / len(n)) for text in n))
        for _, n in sorted(zip(sources, lists, strict=True), key=lambda pair: len(pair[0]))
    ]
    return lambda transducer, result, nbest: ways


def test_a_report_by_hand(monkeypatch):
    transducer = small()
    sources = ["ab", "a", "cdc", ""]
    lists = (["a b"], ["a k", "a"], ["a", "b", "d", "k"], [""])
    monkeypatch.setattr(reports, "read_transductions", canned(sources, *lists))
    references = [("a b",), ("a",), ("k k k",), ("",)]
    told = report(transducer, sources, references, 4)
    assert told.wer == 0.5
    assert told.oracle_wer == 0.25  # the second list has the right output further down
    assert told.cer == pytest.approx((0 + 1 + 3 + 0) / (2 + 1 + 3 + 0))
    sure, right = torch.tensor([1, 1 / 2, 1 / 4, 1]), torch.tensor([True, False, False, True])
    assert told.calibration_error == pytest.approx(calibration_error(sure, right))
    assert told.bleu == bleu(["a b", "a k", "a", ""], references)
    assert told.chrf == chrf(["a b", "a k", "a", ""], references)
    assert 0 < told.words_per_second == pytest.approx(told.sources_per_second * 5 / 4)


def test_several_references_by_hand(monkeypatch):
    monkeypatch.setattr(reports, "read_transductions", canned("ab", ["b"], ["a b"]))
    told = report(small(), ["a", "b"], [("a", "b"), ("a", "b b")], 1)
    assert (told.wer, told.oracle_wer) == (0.5, 0.5)
    assert told.cer == pytest.approx(1 / 2)  # of both references that are nearest, the first


@models
@pytest.mark.parametrize("several", [False, True])
def test_a_report_is_what_the_sources_say(model, several):
    data = pairs(7, seed=3, several=several)
    transducer, width = small(data, model=model), 3
    with torch.no_grad():
        found = [next(transduce(transducer, [source], width))[1] for source in data.sources]
        paths = [
            bl.beam_trajectory(
                transducer.space([transducer.encode(source, right)]), transducer.scorer, width
            )
            for source, right in zip(data.sources, data.references, strict=True)
        ]
    told = report(transducer, data.sources, data.references, width, batch_size=2)
    assert told.width == width
    wrong = [one.output not in right for one, right in zip(found, data.references, strict=True)]
    assert told.wer == pytest.approx(sum(wrong) / len(wrong))
    assert told.cost == pytest.approx(sum(float(path.final_costs) for path in paths) / len(paths))
    assert told.increases_per_example == pytest.approx(
        sum(int(path.increases) for path in paths) / len(paths)
    )
    assert 0 <= told.search_error_rate <= 1
    assert told.oracle_wer <= told.wer
    assert told.to_json()["wer"] == told.wer


@models
def test_the_cost_is_the_edit_distance(model):
    """With one reference, known tokens and unit weights it is what `cer` counts."""
    data = pairs(9, seed=5)
    told = report(small(data, model=model), data.sources, data.references, 2)
    tokens = sum(len(text.split()) for (text,) in data.references)
    assert told.cer * tokens == pytest.approx(told.cost * len(data))


def test_empty_strings_are_data():
    data = pairs(6)
    transducer = small(data)
    told = report(transducer, ["", "ab", ""], [("",), ("",), ("a", "")], 3)
    assert 0 <= told.wer <= 1
    (way, *_), *_ = (one.nbest for one in in_order(transduce(transducer, ["", "a"], 2, nbest=2)))
    assert 0 < way.probability <= 1


def test_tokens_never_seen_are_errors():
    told = report(small(), ["ab"], [("? !",)], 2)
    assert told.wer == told.oracle_wer == 1
    assert told.cost >= 2
