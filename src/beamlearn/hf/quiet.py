"""Let transformers say nothing for a while: what went wrong is said by those who called it."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR

from transformers.utils import logging


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings and no progress bars; afterwards both are as they were.

    >>> from transformers.utils import logging
    >>> before = logging.get_verbosity()
    >>> with quiet():
    ...     logging.get_verbosity() == ERROR
    True
    >>> logging.get_verbosity() == before
    True
    """
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # theirs to type
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # as above
