"""Runtime checks of shapes and types, on a sample of the calls in each test.

Generated tests call the same functions tens of thousands of times, and a check takes longer than
most of these calls. In each test, each function is checked in its first calls and then at
intervals, so that the larger cases that come later are among them. A function inside another is one
function, however often the outer one makes it; and since making a check takes longer than most
checks, it is made when it is first needed. Constructors of dataclasses are functions like others.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import partial, wraps
from inspect import isclass, isfunction

import jaxtyping

FIRST = 3
INTERVAL = 101  # prime, so that it does not fall into step with loops
FACTORIES = "beamlearn.pipes.factories"
"""A module that is left alone: spaCy looks at the arguments of its functions, not of wrappers."""

calls = Counter()
"""How often the code of each function was called in the current test; `conftest.py` clears it."""

check_always = jaxtyping.jaxtyped


def check_some_calls(function=None, **settings):
    """Decorate as `jaxtyping.jaxtyped` does, which pytest's option puts on each function."""
    if function is None:
        return partial(check_some_calls, **settings)
    if isclass(function):
        if is_dataclass(function) and "__init__" in vars(function):
            function.__init__ = check_some_calls(function.__init__, **settings)
        return function
    if function.__module__ == FACTORIES:
        return function
    if not isfunction(function):
        return check_always(function, **settings)
    code, checked = function.__code__, None

    @wraps(function)
    def check(*args, **kwargs):
        nonlocal checked
        calls[code] = number = calls[code] + 1
        sampled = number <= FIRST or number % INTERVAL == 0
        if not sampled or jaxtyping.config.jaxtyping_disable:
            return function(*args, **kwargs)
        if checked is None:
            checked = check_always(function, **settings)
        return checked(*args, **kwargs)

    return check


@contextmanager
def unchecked():
    """Let wrong arguments reach the library's own messages, as they do outside the tests."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def install():
    """Before the library is imported."""
    jaxtyping.jaxtyped = check_some_calls
