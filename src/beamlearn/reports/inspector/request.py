"""Which input to inspect, as given on the command line or in a URL; everything is checked."""

import re
from dataclasses import dataclass
from typing import final
from unicodedata import category
from urllib.parse import parse_qsl

from ...check import unknown

WIDEST, CHARACTERS, WORDS, QUERY = 64, 2_000, 500, 50_000
"""The largest width, the most characters and words typed, and the longest query string."""
NAMES = ("sentence", "text", "right", "width")


@final
class RequestError(ValueError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


@final
@dataclass(frozen=True)
class InputRequest:
    """A sentence of the file by its number, or an input that was typed; or neither."""

    width: int
    number: int | None = None
    """Counted from 0."""
    text: str | None = None
    right: str | None = None
    """The right output of what was typed."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDEST:
            raise RequestError(
                f"`width` must be a whole number from 1 to {WIDEST}, got {self.width}."
            )
        for what, text in (("input", self.text), ("right output", self.right)):
            check_typed(what, text or "")


def check_typed(what: str, text: str) -> None:
    """Refuse text that takes too long to search, or has control characters."""
    if len(text) > CHARACTERS or len(text.split()) > WORDS:
        raise RequestError(
            f"The {what} may have at most {CHARACTERS:,} characters and {WORDS} words, got "
            f"{len(text):,} and {len(text.split()):,}; shorten it, or give it in a file.",
            413,
        )
    if any(category(character) in ("Cc", "Cs") for character in text if character not in "\t\n\r"):
        raise RequestError(f"The {what} must not have control characters, got one; remove it.")


def parse_query(query: str, width: int, size: int) -> InputRequest:
    """The request in a query string, for a file of `size` examples.

    >>> parse_query("sentence=3&width=4", width=8, size=5)
    InputRequest(width=4, number=2, text=None, right=None)
    """
    given = parameters(query)
    chosen = whole(given["width"], "width", WIDEST) if given.get("width") else width
    if "text" in given:
        if "sentence" in given:
            raise RequestError(
                "Only one of `sentence` and `text` can be given, got both; leave one out."
            )
        return InputRequest(
            chosen, text=given["text"], right=given.get("right", "").strip() or None
        )
    if "right" in given:
        raise RequestError("`right` needs a `text`, got none; leave `right` out, or add a text.")
    if "sentence" in given:
        if not size:
            raise RequestError("`sentence` needs a file, but none was given; type an input.")
        return InputRequest(chosen, number=whole(given["sentence"], "sentence", size) - 1)
    return InputRequest(chosen, number=0 if size else None)


def parameters(query: str) -> dict[str, str]:
    """The names and values of a query string."""
    if len(query) > QUERY:
        raise RequestError(
            f"A URL may have at most {QUERY:,} characters after the question mark, got "
            f"{len(query):,}; shorten the input.",
            414,
        )
    if re.search("%(?![0-9A-Fa-f]{2})", query):
        raise RequestError(
            "After a percent sign, a URL must have two hexadecimal digits; write %25 for the sign "
            "itself."
        )
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise RequestError(
            "A URL must encode text as UTF-8, got other bytes; type the input into the form."
        ) from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in NAMES:
            raise RequestError(unknown(NAMES, name[:40], "parameter"))
        if name in given:
            raise RequestError(f"`{name}` can be given only once; leave the others out.")
        given[name] = value
    return given


def whole(text: str, name: str, most: int) -> int:
    """Read a whole number from 1 to `most`.

    >>> whole("7", "width", 64)
    7
    """
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise RequestError(
            f"`{name}` must be a whole number from 1 to {most:,}, got {text[:40]!r}."
        )
    return int(text)
