"""An engine is any `concurrent.futures.Executor`; here, those that have a name."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..check import UsageError, unknown
from .local import local_processes
from .submitted import SubmittedJobs

ENGINES = ("processes", "dask", "slurm")
"""Their names; after that of a cluster comes a colon and its address or partition."""
JOBS = Path("slurm")
"""Where SLURM's jobs are kept unless another folder is named."""
MINUTES = 24 * 60
"""How long a job of SLURM may take; what is then unfinished goes on in the next."""


class EngineError(UsageError):
    """There is no such engine, or it cannot be reached."""


def open_engine(
    name: str = "processes", workers: int | None = None, jobs: Path = JOBS
) -> AbstractContextManager[Executor]:
    """Open the engine `name`: processes, dask:ADDRESS, slurm or slurm:PARTITION.

    `workers` is the number of processes on this machine; a cluster has as many as it has. `jobs` is
    a folder that SLURM's machines share, for what they are to do and what they print.

    >>> with open_engine("processes", 1) as engine:
    ...     engine.submit(max, 3, 4).result()
    4
    """
    kind, _, address = name.partition(":")
    if kind not in OPENING:
        raise EngineError(unknown(ENGINES, kind, "engine"), "engine")
    return OPENING[kind](Wanted(address, workers, jobs))


@dataclass(frozen=True)
class Wanted:
    """What an engine is opened with."""

    address: str
    workers: int | None
    jobs: Path


def processes(wanted: Wanted) -> AbstractContextManager[Executor]:
    """Processes of this machine, one per core unless `workers` says otherwise."""
    if wanted.address:
        raise EngineError(
            f"`engine` = processes has no address, got {wanted.address!r}; leave it out.", "engine"
        )
    return local_processes(wanted.workers)


@contextmanager
def dask(wanted: Wanted) -> Iterator[Executor]:
    """The workers of a Dask cluster, by the address of its scheduler."""
    if not wanted.address:
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
        client = Client(wanted.address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"There must be a Dask scheduler at {wanted.address}, but none answers ({error}); "
            "start one with `dask scheduler`, or check the address.",
            "engine",
        ) from error
    with client:
        # Not pure: what is submitted again is done again.
        yield client.get_executor(pure=False)


@contextmanager
def slurm(wanted: Wanted) -> Iterator[Executor]:
    """Jobs of SLURM, one core each; they are canceled if anything is raised."""
    if shutil.which("srun") is None:
        raise EngineError(
            "`engine` = slurm needs the commands of SLURM, but there is no srun on this machine; "
            "run this on one that can submit jobs, or choose another engine.",
            "engine",
        )
    try:
        from submitit import SlurmExecutor
    except ImportError as error:
        raise EngineError(missing("SLURM", "slurm"), "engine") from error
    submitter = SlurmExecutor(folder=wanted.jobs)
    chosen = {"partition": wanted.address} if wanted.address else {}
    submitter.update_parameters(time=MINUTES, cpus_per_task=1, job_name="beamlearn", **chosen)
    with submitted(SubmittedJobs(submitter)) as engine:
        yield engine


@contextmanager
def submitted(engine: SubmittedJobs) -> Iterator[Executor]:
    """Wait for all jobs at the end, or cancel them if anything is raised."""
    try:
        yield engine
    except BaseException:
        engine.shutdown(cancel_futures=True)
        raise
    engine.shutdown()


def missing(engine: str, extra: str) -> str:
    """Say what to install."""
    return f"The engine for {engine} is not installed; install beamlearn[{extra}]."


OPENING: Mapping[str, Callable[[Wanted], AbstractContextManager[Executor]]] = {
    "processes": processes,
    "dask": dask,
    "slurm": slurm,
}
