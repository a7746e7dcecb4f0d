"""Sources and references in Python lists."""
# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Iterable
from typing import Any

from ...data.text import DataError
from .pairs import Pairs

Texts = Iterable[str]
"""The sources."""
References = Iterable[str | Iterable[str]]
"""The right output of each source, or several of them."""
SOURCES, RIGHT = "strings", "strings, or of lists of them where there are several references"


def pairs_of(X: Texts, y: References, x_name: str = "X", y_name: str = "y") -> Pairs:
    """Check that every source has a reference, and that there is a source; both may be empty."""
    sources = texts_of(X, x_name)
    references = [references_of(one, f"{y_name}[{i}]") for i, one in enumerate(listed(y, y_name))]
    if len(sources) != len(references):
        raise DataError(
            f"`{x_name}` and `{y_name}` must have equally many strings, got {len(sources)} and "
            f"{len(references)}."
        )
    if not sources:
        raise DataError(f"`{x_name}` must have at least one string, got none.")
    return Pairs(sources, references, [f"`{y_name}[{i}]`" for i in range(len(sources))])


def texts_of(values: Texts, name: str) -> list[str]:
    """Read sources from any kind of sequence."""
    return [text_of(text, f"{name}[{i}]") for i, text in enumerate(listed(values, name, SOURCES))]


def references_of(value: str | Iterable[str], name: str) -> tuple[str, ...]:
    """Read one reference, or several."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (text_of(value, name),)
    several = tuple(text_of(text, f"{name}[{i}]") for i, text in enumerate(value))
    if not several:
        raise DataError(f"`{name}` must have at least one reference, got none.")
    return several


def listed(values: Any, name: str, required: str = RIGHT) -> list[Any]:
    """Read a sequence that is not itself a string."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"`{name}` must be a list of {required}, got {values!r:.60}.")
    return list(values)


def text_of(value: Any, name: str) -> str:
    """Read a string; numpy's become Python's."""
    if not isinstance(value, str):
        raise DataError(
            f"`{name}` must be a string, got {value!r:.60} ({type(value).__name__}); convert it "
            "with str()."
        )
    return str(value)
