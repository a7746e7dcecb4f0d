import pytest

from beamlearn.data.text import DataError
from beamlearn.tasks.footprint import fitting, footprint
from beamlearn.tasks.task import PredictionRequest


def test_memory_grows_linearly():
    one, two = (footprint(length, 100, 2 * length, 8) for length in (1000, 2000))
    assert two == 2 * one
    assert footprint(1000, 100, 2000, 16) < 2 * one


def test_what_does_not_fit_is_refused_and_the_rest_is_not():
    told = []
    request = PredictionRequest(8, memory=10**9, refuse=told.append)
    assert fitting([5, 10**9 + 1, 7], [1, 4, 9], "f", request) == [0, 2]
    (sentence,) = told
    assert sentence.startswith("f:4: A search may need 1 GB of memory, but")
    assert "`max_memory`" in sentence


def test_without_a_limit_everything_fits():
    assert fitting([10**18], [1], "f", PredictionRequest(8)) == [0]


def test_by_default_nothing_is_left_out():
    with pytest.raises(DataError, match="f:1: "):
        fitting([2], [1], "f", PredictionRequest(8, memory=1))
