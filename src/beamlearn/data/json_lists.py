"""JSON files that hold one object of lists, such as the items of every user."""

import json
from pathlib import Path
from typing import Any

from .text import BYTE_ORDER_MARK, DataError, name_of, read_lines


def read_lists(path: str | Path, what: str) -> dict[str, list[Any]]:
    """Read the lists by their names; `what` says in messages what a name is, as in "user"."""
    return parse_lists("".join(read_lines(path)), name_of(path), what)


def parse_lists(text: str, name: str, what: str) -> dict[str, list[Any]]:
    """The same, from the text of a file."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for place, key in enumerate(keys) if key in keys[:place])
            raise DataError(f"{name}: Each {what} must come once, got {twice!r} twice.")
        return found

    try:
        found = json.loads(text.removeprefix(BYTE_ORDER_MARK), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{name}:{error.lineno}: A JSON file was expected, but this line is not JSON "
            f"({error.msg}, column {error.colno}); correct it, or give another file."
        ) from error
    if not isinstance(found, dict) or not found:
        raise DataError(
            f"{name}: An object with a list for each {what} was expected, got {found!r:.60}."
        )
    for key, value in found.items():
        if not isinstance(value, list):
            raise DataError(f"{name}: The {what} {key!r} must have a list, got {value!r:.60}.")
    return found


def texts_of(values: list[Any], where: str) -> tuple[str, ...]:
    """Names as strings: JSON has some as numbers; `where` begins the message about another kind."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise DataError(f"{where} must have strings or whole numbers, got {value!r:.60}.")
    return tuple(map(str, values))
