import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.evaluation.calibration import calibration_error

shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.integers(0, 1009).map(lambda n: n / 1009))
cases = st.lists(st.tuples(shares, st.booleans()), min_size=1, max_size=30)


def by_hand(confidence, correct, bins):
    total = 0.0
    for b in range(bins):
        places = [i for i, c in enumerate(confidence) if min(int(c * bins), bins - 1) == b]
        if places:
            mean = sum(confidence[i] for i in places) / len(places)
            accuracy = sum(correct[i] for i in places) / len(places)
            total += len(places) / len(confidence) * abs(mean - accuracy)
    return total


@given(cases, st.sampled_from([1, 2, 10, 16]), st.sampled_from([torch.float64, torch.float32]))
def test_calibration_error_is_its_definition(case, bins, dtype):
    confidence, correct = (list(side) for side in zip(*case, strict=True))
    found = calibration_error(torch.tensor(confidence, dtype=dtype), torch.tensor(correct), bins)
    assert found == pytest.approx(by_hand(confidence, correct, bins), abs=1e-6)


def test_no_words_no_error():
    assert calibration_error(torch.zeros(0), torch.zeros(0, dtype=torch.bool)) == 0.0


@pytest.mark.parametrize("bins", [1, 10])
def test_the_ends_of_the_scale(bins):
    sure = torch.tensor([1.0, 1.0, 0.0, 0.0])
    right = torch.tensor([True, True, False, False])
    assert calibration_error(sure, right, bins) == 0.0
    assert calibration_error(sure, ~right, bins) == (1.0 if bins > 1 else 0.0)
    assert calibration_error(torch.ones(2), torch.tensor([True, False]), bins) == 0.5
    assert calibration_error(torch.zeros(2), torch.tensor([True, False]), bins) == 0.5


def test_the_order_does_not_matter(generator):
    confidence = torch.rand(50, generator=generator, dtype=torch.float64)
    correct = torch.rand(50, generator=generator) < 0.5
    order = torch.randperm(50, generator=generator)
    shuffled = calibration_error(confidence[order], correct[order])
    assert shuffled == pytest.approx(calibration_error(confidence, correct))
