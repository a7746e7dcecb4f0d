"""Processes on this machine, which end with the one that began them."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread, current_thread, main_thread


@contextmanager
def local_processes(processes: int | None = None) -> Iterator[Executor]:
    """Processes to work in, one per core by default; whatever ends this one ends them, at once."""
    others = active_children()
    count = processes or os.cpu_count() or 1
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=serve)
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
