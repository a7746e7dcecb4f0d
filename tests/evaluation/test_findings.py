from math import hypot, sqrt

import pytest
import torch

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.evaluation.fates import Fates
from beamlearn.evaluation.findings import NO_VERDICT, Findings
from beamlearn.evaluation.gain import BLIND, SIGHTED, SPREAD, Signs, expected_reduction
from beamlearn.evaluation.metric import Metric
from beamlearn.evaluation.verdict import LITTLE, WORTH, verdict_of

ACCURACY = Metric("accuracy", "accuracy")
WRONG = Metric("wer", "wrong outputs", lower=True)


def evaluation(regrets, lists=None, optimum=0.0):
    """Outputs with these regrets, on lists whose best outputs have those."""
    regrets = torch.tensor(regrets)
    lists = regrets if lists is None else torch.tensor(lists)
    none = torch.zeros(len(regrets), dtype=torch.long)
    fates = Fates(lists + optimum, (lists > 0).long() - 1, none + 1, lists > 0)
    return Evaluation(regrets + optimum, regrets, none, regrets < 0, fates=fates)


def test_signs_by_definition():
    greedy, beam = [4.0, 2.0, 0.0, 2.0], [2.0, 3.0, 0.0, 1.0]
    signs = Signs.of(evaluation(greedy), evaluation(beam, [1.0, 3.0, 0.0, 0.5], optimum=5.0))
    assert signs.beam == pytest.approx(1 - 6 / 8)
    assert signs.listed == pytest.approx(1 - 4.5 / 6)
    rests = [(a - b) - signs.beam * a for a, b in zip(greedy, beam, strict=True)]
    assert signs.deviation == pytest.approx(sqrt(sum(r * r for r in rests)) / 8)
    assert signs.sees_all


def test_signs_of_a_model_without_errors():
    assert Signs.of(evaluation([0.0, 0.0]), evaluation([0.0, 0.0])) == Signs(0.0, 0.0, 0.0)


def test_signs_are_of_the_same_examples():
    with pytest.raises(ValueError, match="must be about the same examples, got 1 and 2; evaluate"):
        Signs.of(evaluation([1.0]), evaluation([1.0, 1.0]))


@pytest.mark.parametrize("sees_all", [False, True])
def test_the_rule(sees_all):
    slope = SIGHTED if sees_all else BLIND
    before = 0.0
    for beam in (-0.5, 0.0, 0.01, 0.05, 0.3, 1.0):
        found = expected_reduction(Signs(beam, 0.0, 0.0, sees_all))
        assert found == pytest.approx(min(1.0, slope * max(0.0, beam)))
        assert 0.0 <= before <= found <= 1.0
        before = found


def judged(beam, metric=ACCURACY, before=0.6, avoidable=1.0, **more):
    signs = Signs(beam, 0.01, 0.2, sees_all=False)
    return verdict_of(signs, metric, before, width=8, avoidable=avoidable, **more)


def test_verdicts():
    assert judged(WORTH / BLIND + 1e-6).kind == "worth it"
    assert judged(LITTLE / BLIND + 1e-6).kind == "unclear"
    assert judged(0.0).kind == "not worth it"
    assert judged(0.0, avoidable=0.0).kind == "nothing to gain"
    assert judged(0.1, trained=8).kind == "trained with it"


def test_the_gain_is_in_points_of_the_metric():
    found = judged(0.04, avoidable=0.5)
    assert found.gain == pytest.approx(BLIND * 0.04 * 0.5 * 0.4)
    assert found.give_or_take == pytest.approx(hypot(SPREAD, BLIND * 0.01) * 0.5 * 0.4)
    assert found.after == pytest.approx(0.6 + found.gain)
    fewer = judged(0.04, WRONG, 0.2)
    assert fewer.gain == pytest.approx(BLIND * 0.04 * 0.2)
    assert fewer.after == pytest.approx(0.2 - fewer.gain)


def test_what_a_verdict_says():
    found = judged(0.08)
    assert found.conclusion.startswith(
        "Training with the beam is worth it: with a beam of 8, expect accuracy to go from 60.00 % "
        f"to about {100 * found.after:.2f} %"
    )
    assert "removes 8.0 % (± 1.0) of the avoidable cost of greedy search" in found.basis
    assert "decides before it has seen all of the input" in found.basis
    assert "expect no gain in accuracy" in judged(0.0).conclusion
    # The default is another one in some tasks.
    assert judged(0.0).conclusion.endswith("What joint gains beside likelihood is not predicted.")
    assert "may pay a little" in judged(0.03 / BLIND).conclusion
    assert "trained with a beam of 4" in judged(0.1, trained=4).conclusion
    assert judged(0.1, trained=4).sentences == (judged(0.1, trained=4).conclusion,)
    assert "nothing to gain" in judged(0.0, avoidable=0.0).conclusion
    assert found.to_json()["text"] == f"{found.conclusion} {found.basis}"


def test_findings():
    each = {
        1: evaluation([2.0, 2.0, 0.0]),
        4: evaluation([1.0, 2.0, 0.0], [0.0, 2.0, 0.0]),
        32: evaluation([1.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
    }
    found = Findings.of(each, ACCURACY, {1: 0.5, 4: 0.6, 32: 0.7}, sees_all=False)
    assert [one.width for one in found.diagnoses] == [1, 4, 32]
    assert found.main.width == found.verdict.width == 4  # the nearest to 8
    assert found.verdict.before == 0.6
    assert found.verdict.signs.beam == pytest.approx(0.25)
    assert found.at(32).listed == 2
    rows = {row[0]: row[1:] for row in found.table}
    assert rows["accuracy"] == ("50.00", "60.00", "70.00")
    assert rows["fell out of the beam"] == ("66.7%", "33.3%", "0.0%")
    assert rows["half of the falls by step"] == ("1", "1", "-")
    record = found.to_json()
    assert [row["accuracy"] for row in record["widths"]] == [0.5, 0.6, 0.7]
    assert record["verdict"]["verdict"] == "worth it"


@pytest.mark.parametrize("widths", [[1], [8], [4, 8]])
def test_a_verdict_needs_two_widths(widths):
    each = {k: evaluation([1.0]) for k in widths}
    found = Findings.of(each, ACCURACY, dict.fromkeys(widths, 0.5))
    assert found.verdict is None
    assert found.sentences[-1] == NO_VERDICT
    assert found.to_json()["verdict"] is None
