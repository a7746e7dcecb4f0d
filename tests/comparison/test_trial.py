"""When an entry is tried again."""

from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

import pytest

from beamlearn.check import UsageError
from beamlearn.comparison import trial
from beamlearn.comparison.trial import LostEntryError, Trial
from beamlearn.training.run import BusyError, RunError
from beamlearn.training.trainer import DivergedError

BUSY = BusyError("Another process is training in x.")


@pytest.mark.parametrize(
    "error", [RunError("wrong"), DivergedError("nan"), UsageError("bad"), KeyError("x")]
)
def test_what_failed_has_failed(error):
    assert Trial().again(error, now=0.0) is error


@pytest.mark.parametrize("error", [BrokenProcessPool("killed"), CancelledError()])
def test_lost_workers_are_forgiven_so_many_times(error):
    tried = Trial()
    for lost in range(1, trial.LOSSES):
        tried = tried.again(error, now=10.0)
        assert isinstance(tried, Trial)
        assert tried.lost == lost
        assert 10.0 < tried.due <= 10.0 + trial.LONGEST_PAUSE
    final = tried.again(error, now=10.0)
    assert isinstance(final, LostEntryError)
    assert "its process was lost 5 times (the last time: " in str(final)


def test_a_busy_folder_is_waited_for_until_patience_ends():
    first = Trial().again(BUSY, now=100.0)
    assert first.deadline == 100.0 + trial.PATIENCE
    later = first.again(BUSY, now=first.deadline - 1)
    assert (later.deadline, later.lost) == (first.deadline, 0)
    assert later.again(BUSY, now=first.deadline) is BUSY


def test_pauses_double_up_to_the_longest():
    tried, pauses = Trial(), []
    for _ in range(12):
        tried = tried.again(BUSY, now=0.0)
        pauses.append(tried.due)
    for number, pause in enumerate(pauses):
        longest = min(trial.LONGEST_PAUSE, trial.FIRST_PAUSE * 2**number)
        assert longest / 2 <= pause <= longest
    assert len(set(pauses)) == len(pauses)


def test_busy_and_lost_are_counted_apart():
    tried = Trial()
    for _ in range(20):
        tried = tried.again(BUSY, now=0.0)
    assert tried.lost == 0
    assert isinstance(tried.again(BrokenProcessPool("killed"), now=0.0), Trial)
