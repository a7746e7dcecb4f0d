"""Runtime checks of shapes and types, on a sample of the calls in each test.

Generated tests call the same functions tens of thousands of times, and a check takes longer than
most of these calls. In each test, each function is checked in its first calls and then at
intervals, so that the larger cases that come later are among them.
"""

from collections import Counter
from functools import partial, wraps
from inspect import isfunction

import jaxtyping

FIRST = 12
INTERVAL = 37  # prime, so that it does not fall into step with loops

calls = Counter()
"""How often each function was called in the current test; `conftest.py` clears it."""

check_always = jaxtyping.jaxtyped


def check_some_calls(function=None, **settings):
    """Decorate as `jaxtyping.jaxtyped` does, which pytest's option puts on each function."""
    if function is None:
        return partial(check_some_calls, **settings)
    checked = check_always(function, **settings)
    if not isfunction(function):
        return checked

    @wraps(function)
    def check(*args, **kwargs):
        calls[function] = number = calls[function] + 1
        if number <= FIRST or number % INTERVAL == 0:
            return checked(*args, **kwargs)
        return function(*args, **kwargs)

    return check


def install():
    """Before the library is imported."""
    jaxtyping.jaxtyped = check_some_calls
