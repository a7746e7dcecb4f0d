"""Labels, trees and comments put into the lines of a file, which stay as they are otherwise."""

from collections.abc import Sequence

from . import columns, conllu
from .row import WordRow
from .text import BYTE_ORDER_MARK, bare, blank
from .trees import possible, wrong_head


def parted(line: str, number: int) -> tuple[str, str, str]:
    """The byte-order mark of a line, its text and its end."""
    text = bare(line, number)
    start = len(BYTE_ORDER_MARK) if number == 1 and line.startswith(BYTE_ORDER_MARK) else 0
    return line[:start], text, line[start + len(text) :]


def with_tree(line: str, number: int, head: int, relation: str) -> str:
    """A word's line of CoNLL-U with another head and relation."""
    before, text, after = parted(line, number)
    text = columns.replaced(text, True, conllu.HEAD, str(head))
    return before + columns.replaced(text, True, conllu.DEPREL, relation) + after


def commented(
    lines: Sequence[str], row: WordRow, comments: Sequence[str], start: int = 1
) -> tuple[int, str]:
    """Put comments before the first line of a CoNLL-U sentence that is not one: its number, text.

    `row` is the first word; a multiword token or an empty node may come before it. The first of
    the lines has number `start`.
    """
    first = number = row.line
    while number > start and not blank(text := bare(lines[number - 1 - start], number - 1)):
        number -= 1
        first = first if text.startswith("#") else number
    above = max(first - 1, start)
    end = parted(lines[above - start], above)[2] or "\n"
    before, text, after = parted(lines[first - start], first)
    return first, before + "".join(comment + end for comment in comments) + text + after


def with_supertag(misc: str, value: str) -> str:
    """Put a supertag into MISC; an earlier one is replaced.

    >>> with_supertag("SpaceAfter=No|Supertag=det/L|Gloss=the", "det/R")
    'SpaceAfter=No|Supertag=det/R|Gloss=the'
    """
    items = [] if misc in ("", "_") else misc.split("|")
    places = [i for i, item in enumerate(items) if item.startswith("Supertag=")]
    for place in reversed(places[1:]):
        del items[place]
    place = places[0] if places else len(items)
    items[place : place + 1] = [f"Supertag={value}"]
    return "|".join(items)


def check_aligned(
    path: str,
    sentences: Sequence[Sequence[WordRow]],
    values: Sequence[Sequence[object]],
    name: str = "values",
) -> None:
    """Refuse values that are not one for each word."""
    check_count(path, sentences, values, name)
    for sentence, labels in zip(sentences, values, strict=True):
        if len(labels) != len(sentence):
            raise ValueError(
                f"{path}:{sentence[0].line}: `{name}` must hold one item for each of the "
                f"{count(len(sentence), 'word')} of the sentence that begins here, got "
                f"{len(labels)}."
            )


def check_heads(
    path: str, sentences: Sequence[Sequence[WordRow]], heads: Sequence[Sequence[int]]
) -> None:
    """Refuse heads that are not words of the sentence."""
    for sentence, numbers in zip(sentences, heads, strict=True):
        for word, (row, head) in enumerate(zip(sentence, numbers, strict=True), 1):
            if not possible(head, word, len(sentence)):
                raise ValueError(
                    f"{path}:{row.line}: {wrong_head(head, word, len(sentence))}; count words from "
                    "1."
                )


def check_comments(
    path: str, sentences: Sequence[Sequence[WordRow]], comments: Sequence[Sequence[str]]
) -> None:
    """Refuse comments that would be read as something else once they are written."""
    check_count(path, sentences, comments, "comments")
    for comment in (comment for added in comments for comment in added):
        if not comment.startswith("#") or "\n" in comment or "\r" in comment:
            raise ValueError(
                f"{path}: A comment must be one line that begins with '#', without a line break, "
                f"got {comment!r}; give one comment for each line, beginning with '# '."
            )


def check_count(
    path: str, sentences: Sequence[object], values: Sequence[object], name: str
) -> None:
    """Refuse values that are not one for each sentence."""
    if len(values) != len(sentences):
        raise ValueError(
            f"{path}: `{name}` must hold one list for each of the "
            f"{count(len(sentences), 'sentence')}, got {len(values)}."
        )


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "word"), count(2, "word")
    ('1 word', '2 words')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
