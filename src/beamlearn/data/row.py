"""One word of a file, with the other fields of its line."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WordRow:
    """One word: the fields of its line, the word among them."""

    fields: tuple[str, ...]
    line: int
    """Counted from 1."""
