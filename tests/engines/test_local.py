"""Processes of this machine."""

import os
import signal
from concurrent.futures import BrokenExecutor
from multiprocessing import active_children

import pytest

from beamlearn.engines.local import local_processes
from beamlearn.engines.lost import is_lost


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_pool_that_broke_is_opened_again() -> None:
    with local_processes(1) as engine:
        for _ in range(2):
            error = engine.submit(die).exception()
            assert isinstance(error, BrokenExecutor)
            assert is_lost(error)
            assert engine.submit(max, 3, 4).result() == 4
    assert not active_children()


@pytest.mark.slow
def test_what_is_raised_ends_all_processes_of_all_pools() -> None:
    with pytest.raises(KeyError), local_processes(1) as engine:  # noqa: PT012
        engine.submit(die).exception()
        engine.submit(max, 3, 4).result()
        raise KeyError
    assert not active_children()
