"""Workers that were lost: the work did not fail, and can be done again."""

from concurrent.futures import BrokenExecutor, CancelledError

DASK = frozenset(
    {
        "distributed.scheduler.KilledWorker",
        "distributed.scheduler.NoValidWorkerError",
        "distributed.comm.core.CommClosedError",
        "distributed.client.FutureCancelledError",
        "distributed.client.FuturesCancelledError",
    }
)
"""What Dask raises for it, by name, as it may not be installed."""


class LostWorkerError(BrokenExecutor):
    """The process that did the work has ended without a result."""


def is_lost(error: BaseException) -> bool:
    """Does an error say that the worker was lost, not that its work failed?

    >>> is_lost(LostWorkerError("killed")), is_lost(ValueError("bad data"))
    (True, False)
    """
    if isinstance(error, BrokenExecutor | CancelledError):
        return True
    return any(f"{kind.__module__}.{kind.__qualname__}" in DASK for kind in type(error).__mro__)
