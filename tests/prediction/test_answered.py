"""Windows and answers in order, on an executor that may lose its workers."""

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager

import pytest

from beamlearn.data.windows import Mark, Window
from beamlearn.engines import EngineError
from beamlearn.prediction import answered as module
from beamlearn.prediction.answered import answered

pytestmark = pytest.mark.usefixtures("no_shape_checks")  # the job is none


class Unsteady(Executor):
    """Answers in the order of asking, when asked for a result; breaks at some of the calls."""

    def __init__(self, breaking, error):
        self.breaking, self.error, self.calls = breaking, error, 0

    def submit(self, function, job, window):
        future = Future()
        self.calls += 1
        if self.calls in self.breaking:
            future.set_exception(self.error)
        else:
            future.set_result(window.name.upper())
        return future


def read(names, drawn):
    for number, name in enumerate(names):
        drawn.append(name)
        yield Window(name, b"", Mark(line=number))


def test_answers_come_in_order_and_few_windows_are_in_flight():
    drawn, ahead = [], []
    found = []
    for window, answer in answered(read("abcdefgh", drawn), None, opened(set()), workers=2):
        found.append((window.name, answer))
        ahead.append(len(drawn) - len(found))
    assert found == [(name, name.upper()) for name in "abcdefgh"]
    assert max(ahead) == module.AHEAD * 2 - 1


def opened(breaking, error=None):
    executor = Unsteady(breaking, error or BrokenExecutor())

    @contextmanager
    def engine():
        engine.times += 1
        yield executor

    engine.times = 0
    return engine


# As Dask has it.
KilledWorker = type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})


@pytest.mark.parametrize("error", [BrokenExecutor(), CancelledError(), KilledWorker()])
def test_what_a_lost_worker_had_is_answered_by_another_one(error):
    engine = opened({2, 7}, error)
    found = [answer for _, answer in answered(read("abcdef", []), None, engine, workers=1)]
    assert (found, engine.times) == (list("ABCDEF"), 3)


def test_what_is_wrong_with_a_window_is_not_tried_again():
    engine = opened({2}, ValueError("wrong"))
    with pytest.raises(ValueError, match="wrong"):
        list(answered(read("abc", []), None, engine, workers=1))
    assert engine.times == 1


def test_nobody_tries_forever():
    engine = opened(set(range(2, 100)))
    answers = answered(read("abc", []), None, engine, workers=1)
    assert next(answers)[1] == "A"
    with pytest.raises(EngineError, match=r"b:1: .* 3 were lost .* `workers`"):
        next(answers)
    assert engine.times == module.ATTEMPTS
