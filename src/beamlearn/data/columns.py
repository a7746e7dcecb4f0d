"""Column files: one word per line with its labels, and a blank line after each sentence."""

import re
from collections.abc import Iterable, Iterator, Sequence

from .row import WordRow
from .text import DataError, bare, blank, blocks

FIELD = re.compile(r"[^ \t]+")
"""A field where spaces separate: other spaces of Unicode may be part of a word."""


def parse(
    lines: Sequence[str],
    path: str,
    start: int = 1,
    opening: Sequence[str] | None = None,
    first: WordRow | None = None,
) -> list[list[WordRow]]:
    """Find the words of each sentence with all their columns; the first is the word.

    Tabs separate if the first line with data has one, otherwise runs of spaces do. Lines of
    nothing but spaces and tabs count as blank. "#" is a word like any other, with one exception:
    where tabs separate, a line before a sentence that begins with "# " and has no tab is a
    comment. "-DOCSTART-" is a sentence of one word.

    Lines from the middle of a file begin with number `start`, and have as many columns as the
    `first` word, separated as in the `opening` lines.
    """
    tabs = tab_separated(lines if opening is None else opening)
    sentences: list[list[WordRow]] = []
    for block in blocks(lines, start):
        words: list[WordRow] = []
        for row in rows_of(block, tabs):
            first = first or row
            check(row, first, tabs, path)
            words.append(row)
        if words:
            sentences.append(words)
    return sentences


def rows_of(block: Iterable[tuple[int, str]], tabs: bool) -> Iterator[WordRow]:
    """The words in lines without a blank one between them."""
    begun = False
    for number, text in block:
        if begun or not (tabs and like_comment(text)):
            begun = True
            yield WordRow(tuple(text.split("\t") if tabs else FIELD.findall(text)), number)


def first_row(lines: Sequence[str]) -> WordRow | None:
    """The first word of a file, if there is one in its first lines."""
    tabs = tab_separated(lines)
    return next((row for block in blocks(lines) for row in rows_of(block, tabs)), None)


def signs(lines: Sequence[str]) -> tuple[str, ...]:
    """The few lines that show what separates columns, as all these lines do."""
    sure = (text for text in data(lines) if not like_comment(text))
    spaced = (text for text in data(lines) if " " in text)
    return tuple(text for text in (next(sure, None), next(spaced, None)) if text is not None)


def count(lines: Iterable[str], tabs: bool) -> int:
    """How many sentences there are, whatever their columns."""
    return sum(any(True for _ in rows_of(block, tabs)) for block in blocks(lines))


def check(row: WordRow, first: WordRow, tabs: bool, path: str) -> None:
    """Refuse a line without a word and one with more or fewer columns than the first."""
    if len(row.fields) != len(first.fields):
        between = "one tab" if tabs else "spaces"
        plain = "" if tabs else " (predict reads plain text with `layout=lines`)"
        raise DataError(
            f"{path}:{row.line}: Every line must have as many columns as the first, "
            f"{len(first.fields)} (line {first.line}), got {len(row.fields)}; columns are "
            f"separated by {between} in this file{plain}."
        )
    if not row.fields[0]:
        raise DataError(
            f"{path}:{row.line}: Every line needs a word in column 1, but this one is empty; write "
            "the word, or leave the whole line blank to end a sentence."
        )


def data(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are not blank, without their ends."""
    texts = (bare(line, number) for number, line in enumerate(lines, 1))
    return (text for text in texts if not blank(text))


def like_comment(text: str) -> bool:
    """Would this line be a comment if tabs separated the columns?"""
    return text.startswith("# ") and "\t" not in text


def tab_separated(lines: Sequence[str]) -> bool:
    """Do tabs separate the columns, judging by the first line that is certainly data?"""
    return "\t" in next((text for text in data(lines) if not like_comment(text)), "")


def separator(lines: Sequence[str]) -> str:
    """What separates a new column: the file's own separator; a tab in a list of words."""
    spaces = not tab_separated(lines) and any(" " in text for text in data(lines))
    return " " if spaces else "\t"


def replaced(text: str, tabs: bool, column: int, value: str) -> str:
    """Replace field `column` (0-based) of a line and leave what is between the fields.

    >>> replaced("a  b   c ", False, 1, "new")
    'a  new   c '
    """
    if tabs:
        fields = text.split("\t")
        fields[column] = value
        return "\t".join(fields)
    start, end = list(FIELD.finditer(text))[column].span()
    return text[:start] + value + text[end:]


def appended(text: str, between: str, value: str) -> str:
    """Add a field after the last one; spaces at the end of the line stay there."""
    end = len(text) if between == "\t" else len(text.rstrip(" \t"))
    return text[:end] + between + value + text[end:]
