"""Jobs of submitit as an executor: it has neither futures nor errors of its own work."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Protocol, final, runtime_checkable

from .lost import LostWorkerError

LOOK = 2.0
"""How often, in seconds, jobs are asked whether they are done."""


@runtime_checkable
class Job(Protocol):
    """What is used of a job of submitit."""

    def done(self) -> bool:
        """Has it ended, with or without a result?"""
        ...

    def result(self) -> Any:
        """What its work returned; an error if it has left no result."""
        ...

    def cancel(self, check: bool = True) -> None:
        """End it."""
        ...


@runtime_checkable
class Submitter(Protocol):
    """What is used of an executor of submitit."""

    def submit(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Job:
        """Begin a job."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What came of the work: submitit keeps only the text of an error."""

    value: Any = None
    error: Exception | None = None


def outcome_of(work: Callable[..., Any], *values: Any, **named: Any) -> Outcome:
    """Do the work."""
    try:
        return Outcome(work(*values, **named))
    except Exception as error:
        return Outcome(error=error)


@final
class SubmittedJobs(Executor):
    """An executor whose work is done in jobs; one thread asks for their ends.

    A job cannot be taken back once it has begun, so its future runs from the start; `shutdown` with
    `cancel_futures` ends the jobs.
    """

    def __init__(self, submitter: Submitter, look: float = LOOK) -> None:
        self.submitter, self.look = submitter, look
        self.jobs: dict[Future[Any], Job] = {}
        self.ended = Event()
        self.thread = Thread(target=self._follow, daemon=True)
        self.thread.start()

    def submit(self, work: Callable[..., Any], /, *values: Any, **named: Any) -> Future[Any]:
        if self.ended.is_set():
            raise RuntimeError("cannot submit work after shutdown")
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self.jobs[future] = self.submitter.submit(outcome_of, work, *values, **named)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            for future, job in list(self.jobs.items()):
                job.cancel(check=False)
                future.set_exception(LostWorkerError("The job was canceled."))
        elif wait:
            for future in list(self.jobs):
                future.exception()
        self.ended.set()
        self.thread.join()

    def _follow(self) -> None:
        while not self.ended.wait(self.look):
            for future, job in list(self.jobs.items()):
                if concluded(future, job):
                    del self.jobs[future]


def concluded(future: Future[Any], job: Job) -> bool:
    """Give a future what its job has left, if it has ended."""
    try:
        if not job.done():
            return False
        outcome: Outcome = job.result()
    except Exception as error:
        failed = type(error).__name__ == "FailedJobError"  # before or after the work
        lost = LostWorkerError(f"The job ended without a result: {' '.join(str(error).split())}")
        future.set_exception(error if failed else lost)
        return True
    if outcome.error is None:
        future.set_result(outcome.value)
    else:
        future.set_exception(outcome.error)
    return True
