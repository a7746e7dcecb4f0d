"""Engines by their names."""

import pytest

from beamlearn.engines import EngineError, open_engine


def test_processes_work_in_processes_of_their_own() -> None:
    import os

    with open_engine("processes", 1) as engine:
        assert engine.submit(os.getpid).result() != os.getpid()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dusk:tcp://127.0.0.1:1", "There is no engine called 'dusk'. Did you mean 'dask'"),
        ("processes:2", "`engine` = processes has no address, got '2'; leave it out."),
        ("dask", "`engine` = dask needs the address of a scheduler, got none"),
    ],
)
def test_what_is_no_engine_is_refused(name: str, message: str) -> None:
    with pytest.raises(EngineError, match=message), open_engine(name):
        pass


def test_a_scheduler_that_does_not_answer_is_named() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(EngineError, match="There must be a Dask scheduler at tcp://127.0.0.1:9"),
        open_engine("dask:tcp://127.0.0.1:9"),
    ):
        pass
