"""Windows and their answers in order, wherever they are answered."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager

from ..data.windows import Window
from ..engines import EngineError
from ..engines.local import undisturbed
from ..engines.lost import is_lost
from .answerer import Answer, Answerer, answer
from .job import Job

ATTEMPTS = 3
"""How often a window is given to workers that are lost."""
AHEAD = 2
"""How many windows wait for each worker, the one that it answers among them."""


def answered_here(
    windows: Iterable[Window], answerer: Answerer
) -> Generator[tuple[Window, Answer], None, None]:
    """Answer windows one by one, in this process."""
    return ((window, answerer.answer(window)) for window in windows)


def answered(
    windows: Iterable[Window],
    job: Job,
    engine: Callable[[], AbstractContextManager[Executor]],
    workers: int,
) -> Generator[tuple[Window, Answer], None, None]:
    """Answer windows in the processes of an engine; no more than `AHEAD` for each are in flight.

    If a worker is lost, the engine is opened again, and has `ATTEMPTS` for a window.
    """
    source, flying, losses = iter(windows), deque[Window](), 0
    while True:
        try:
            with engine() as executor:
                for found in in_order(source, flying, executor, job, AHEAD * workers):
                    losses = 0
                    yield found
                return
        except Exception as error:
            if not (is_lost(error) and flying):
                raise
            losses += 1
            if losses == ATTEMPTS:
                raise EngineError(lost(flying[0])) from error


def in_order(
    source: Iterator[Window], flying: deque[Window], executor: Executor, job: Job, most: int
) -> Generator[tuple[Window, Answer], None, None]:
    """Submit the windows that are `flying` and further ones; those without an answer stay there."""
    waiting = deque(submitted(executor, job, window) for window in flying)
    while True:
        while len(flying) < most and (window := next(source, None)) is not None:
            flying.append(window)
            waiting.append(submitted(executor, job, window))
        if not waiting:
            return
        found = waiting.popleft().result()
        yield flying.popleft(), found


def submitted(executor: Executor, job: Job, window: Window) -> Future[Answer]:
    """Give a window to a worker."""
    with undisturbed():  # it may begin a process
        return executor.submit(answer, job, window)


def lost(window: Window) -> str:
    """The message for a window that no worker has survived."""
    return (
        f"{window.name}:{window.start.line}: A worker must live to answer a window, but "
        f"{ATTEMPTS} were lost with the one that begins on this line; there may be too little "
        "memory: use fewer `workers`, a smaller `window`, or `max_memory`."
    )
