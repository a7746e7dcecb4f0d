"""Processes on this machine, which end with the one that began them."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread, current_thread, main_thread
from typing import Any, final


@contextmanager
def local_processes(processes: int | None = None) -> Iterator[Executor]:
    """Processes to work in, one per core by default; whatever ends this one ends them, at once.

    If one of them is killed, all work that is under way breaks off, and what is submitted next gets
    new processes.
    """
    with ExitStack() as opened:
        yield MendedPool(opened, processes or os.cpu_count() or 1)


@final
class MendedPool(Executor):
    """A pool of processes that is opened again when it has broken."""

    def __init__(self, opened: ExitStack, processes: int) -> None:
        self.opened, self.processes = opened, processes
        self.pool = opened.enter_context(pool_of(processes))

    def submit(self, work: Callable[..., Any], /, *values: Any, **named: Any) -> Future[Any]:
        try:
            return self.pool.submit(work, *values, **named)
        except BrokenExecutor:
            self.pool = self.opened.enter_context(pool_of(self.processes))
            return self.pool.submit(work, *values, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def pool_of(processes: int) -> Iterator[Executor]:
    """A pool of processes, which are ended if anything is raised."""
    others = active_children()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=serve)
    try:
        yield pool
    except BaseException:
        for child in active_children():
            if child not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave interrupts to this process: those that begin meanwhile never notice them.

    Only the main thread may say so; elsewhere nothing changes.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def serve() -> None:
    """In a process of its own: leave interrupts to the process that began it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Wait until the process that began this one is gone, even if it was killed."""
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
