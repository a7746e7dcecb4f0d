"""An engine is any `concurrent.futures.Executor`; here, those that have a name."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager

from ..check import UsageError, unknown
from .local import local_processes

ENGINES = ("processes", "dask")
"""Their names; after that of a cluster comes a colon and its address."""


class EngineError(UsageError):
    """There is no such engine, or it cannot be reached."""


def open_engine(
    name: str = "processes", workers: int | None = None
) -> AbstractContextManager[Executor]:
    """Open the engine `name`: processes or dask:ADDRESS.

    `workers` is the number of processes on this machine; a Dask cluster has as many as it has.

    >>> with open_engine("processes", 1) as engine:
    ...     engine.submit(max, 3, 4).result()
    4
    """
    kind, _, address = name.partition(":")
    if kind not in OPENING:
        raise EngineError(unknown(ENGINES, kind, "engine"), "engine")
    return OPENING[kind](address, workers)


def processes(address: str, workers: int | None) -> AbstractContextManager[Executor]:
    """Processes of this machine, one per core unless `workers` says otherwise."""
    if address:
        raise EngineError(
            f"`engine` = processes has no address, got {address!r}; leave it out.", "engine"
        )
    return local_processes(workers)


@contextmanager
def dask(address: str, workers: int | None) -> Iterator[Executor]:  # noqa: ARG001 (the cluster's)
    """The workers of a Dask cluster, by the address of its scheduler."""
    if not address:
        raise EngineError(
            "`engine` = dask needs the address of a scheduler, got none; give for instance "
            "dask:tcp://127.0.0.1:8786.",
            "engine",
        )
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError(missing("dask", "dask"), "engine") from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"There must be a Dask scheduler at {address}, but none answers ({error}); start one "
            "with `dask scheduler`, or check the address.",
            "engine",
        ) from error
    with client:
        yield client.get_executor()


def missing(engine: str, extra: str) -> str:
    """Say what to install."""
    return f"The engine for {engine} is not installed; install beamlearn[{extra}]."


OPENING: Mapping[str, Callable[[str, int | None], AbstractContextManager[Executor]]] = {
    "processes": processes,
    "dask": dask,
}
