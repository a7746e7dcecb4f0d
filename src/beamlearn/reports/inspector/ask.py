"""What to look at, as it is asked for on the command line or in an address; all of it checked."""

import re
from dataclasses import dataclass
from typing import final
from unicodedata import category
from urllib.parse import parse_qsl

from ...check import unknown

WIDEST, CHARACTERS, WORDS, QUERY = 64, 2_000, 500, 50_000
"""The most that is searched with, that is typed, and that an address has."""
NAMES = ("sentence", "text", "right", "width")


@final
class AskError(ValueError):
    """A question that cannot be answered; with the status of the page that says so."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


@final
@dataclass(frozen=True)
class Ask:
    """A sentence of the file by its number, or an input that was typed; or neither."""

    width: int
    number: int | None = None
    """Counted from 0."""
    text: str | None = None
    right: str | None = None
    """The right output of what was typed."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDEST:
            raise AskError(
                f"`width` must be a whole number from 1 to {WIDEST}, but {self.width} came."
            )
        for what, text in (("input", self.text), ("right output", self.right)):
            check_typed(what, text or "")


def check_typed(what: str, text: str) -> None:
    """Refuse what is too long to be searched while somebody waits, or is no text."""
    if len(text) > CHARACTERS or len(text.split()) > WORDS:
        raise AskError(
            f"The {what} may have {CHARACTERS:,} characters and {WORDS} words, but {len(text):,} "
            f"and {len(text.split()):,} came; shorten it, or give it in a file.",
            413,
        )
    if any(category(character) in ("Cc", "Cs") for character in text if character not in "\t\n\r"):
        raise AskError(
            f"The {what} must be text without control characters, but one came; remove it."
        )


def asked(query: str, width: int, size: int) -> Ask:
    """What the part of an address after the question mark asks for, of a file of `size` examples.

    >>> asked("sentence=3&width=4", width=8, size=5)
    Ask(width=4, number=2, text=None, right=None)
    """
    given = parameters(query)
    chosen = whole(given["width"], "width", WIDEST) if given.get("width") else width
    if "text" in given:
        if "sentence" in given:
            raise AskError("`sentence` or `text` can be given, but both came; leave out one.")
        return Ask(chosen, text=given["text"], right=given.get("right", "").strip() or None)
    if "right" in given:
        raise AskError("`right` belongs to a `text`, but none came; leave it out, or add a text.")
    if "sentence" in given:
        if not size:
            raise AskError("`sentence` is one of a file, but no file was given; type an input.")
        return Ask(chosen, number=whole(given["sentence"], "sentence", size) - 1)
    return Ask(chosen, number=0 if size else None)


def parameters(query: str) -> dict[str, str]:
    """The names and values of an address."""
    if len(query) > QUERY:
        raise AskError(
            f"An address may have {QUERY:,} characters after the question mark, but "
            f"{len(query):,} came; shorten the input.",
            414,
        )
    if re.search("%(?![0-9A-Fa-f]{2})", query):
        raise AskError(
            "After a percent sign, an address must have two hexadecimal digits, but something "
            "else came; write %25 for the sign itself."
        )
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise AskError(
            "An address must encode text as UTF-8, but other bytes came; type the input into the "
            "form."
        ) from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in NAMES:
            raise AskError(unknown(NAMES, name[:40], "parameter"))
        if name in given:
            raise AskError(f"`{name}` can be given once, but it came again; leave out one.")
        given[name] = value
    return given


def whole(text: str, name: str, most: int) -> int:
    """Read a whole number from 1 to `most`.

    >>> whole("7", "width", 64)
    7
    """
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise AskError(
            f"`{name}` must be a whole number from 1 to {most:,}, but {text[:40]!r} came."
        )
    return int(text)
