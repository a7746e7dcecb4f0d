"""CoNLL-U: sentences of words with ten fields, and the trees over them."""

import re
from collections.abc import Iterable, Sequence

from ..check import quoted, shortened
from .row import WordRow
from .text import DataError, blocks
from .trees import fault, possible, wrong_head

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
FORM, UPOS, XPOS, FEATS, HEAD, DEPREL, MISC = (
    FIELDS.index(name) for name in ("form", "upos", "xpos", "feats", "head", "deprel", "misc")
)
WORD = re.compile(r"[0-9]+")
MARKED = b"\xef\xbb\xbf1\t"
"""How a file may begin: a byte-order mark, and a first word."""
HEAD_NUMBER = re.compile(r"[0-9]{1,9}")
"""Python refuses to read numbers of thousands of digits, and no sentence has so many words."""
NO_WORD = re.compile(r"[0-9]+(-|\.)[0-9]+")
"""The ids of multiword tokens (1-2) and of empty nodes (8.1)."""


def parse(
    lines: Sequence[str], path: str, start: int = 1, guessed: bool = False
) -> list[list[WordRow]]:
    """Find the words of each sentence; multiword tokens and empty nodes are checked and left out.

    Lines that begin with "#" are comments, and a block without words is no sentence. Lines of
    nothing but spaces and tabs count as blank. `start` is the number of the first line. If nobody
    said that the file is CoNLL-U, it is `guessed`, and a message may doubt it.
    """
    sentences = (words_of(block, path, guessed) for block in blocks(lines, start))
    return [words for words in sentences if words]


def words_of(block: Iterable[tuple[int, str]], path: str, guessed: bool = False) -> list[WordRow]:
    """The words in lines without a blank one between them."""
    words: list[WordRow] = []
    for number, text in block:
        if text.startswith("#"):
            continue
        fields = tuple(text.split("\t"))
        if len(fields) != len(FIELDS):
            fixes = ("layout",) if guessed else ()
            raise DataError(f"{path}:{number}: {wrong_count(text, guessed)}", *fixes)
        if fields[0] == str(len(words) + 1):
            words.append(WordRow(fields, number))
        elif not NO_WORD.fullmatch(fields[0]):
            raise DataError(f"{path}:{number}: {wrong_id(fields[0], len(words) + 1)}")
        if not fields[FORM]:
            raise DataError(
                f"{path}:{number}: Every word needs a form, but column 2 is empty; write the "
                "word there, or '_'."
            )
    return words


def count(text: bytes) -> int:
    r"""How many sentences a text has, if it can be read: as many as it has first words.

    >>> count(b"# a comment\n\n1\tGo\n\n1\tDo\n2\tstop\n")
    2
    """
    opening = text[: len(MARKED)]
    return text.count(b"\n1\t") + opening.startswith(b"1\t") + (opening == MARKED)


def wrong_count(text: str, guessed: bool) -> str:
    """The message for a line that does not have ten fields."""
    count = text.count("\t") + 1
    if count < len(FIELDS) <= len(text.split()):
        advice = "replace the spaces by tabs"
    elif count == 1:
        advice = (
            "use a CoNLL-U file, or if this is plain text with one sentence per line, predict with "
            "`layout=lines`"
        )
    elif count < len(FIELDS):
        advice = "write '_' where there is no value"
        advice += ", or rename the file if it is not CoNLL-U" if guessed else ""
    else:
        advice = "remove the fields after MISC"
    return (
        f"A CoNLL-U line must have {len(FIELDS)} fields with tabs between them, got {count}; "
        f"{advice}."
    )


def wrong_id(found: str, expected: int) -> str:
    """The message for an id that is not the expected one."""
    if not WORD.fullmatch(found):
        return (
            f"An id must be a number such as {expected}, a range such as 1-2 or an empty node such "
            f"as 8.1, got {quoted(found)}; correct column 1, or begin a comment with '#'."
        )
    advice = "put a blank line between sentences" if found == "1" else "renumber the words"
    return (
        f"The words of a sentence must be numbered 1, 2, ..., got {shortened(found)} instead of "
        f"{expected}; {advice}."
    )


def tree(sentence: Sequence[WordRow], path: str = "CoNLL-U") -> tuple[list[int], list[str]]:
    """The head and the relation of each word; they must be a tree with one root."""
    numbers = heads(sentence, path)
    if wrong := fault(numbers):
        word, reason = wrong
        raise DataError(f"{path}:{sentence[word - 1].line}: {reason}; correct column 7.")
    return numbers, relations(sentence, path)


def heads(sentence: Sequence[WordRow], path: str = "CoNLL-U") -> list[int]:
    """The head of each word as a 1-based number, 0 for a root."""
    found = []
    for number, row in enumerate(sentence, 1):
        value = row.fields[HEAD]
        head = int(value) if HEAD_NUMBER.fullmatch(value) else -1
        if not possible(head, number, len(sentence)):
            raise DataError(
                f"{path}:{row.line}: {wrong_head(value, number, len(sentence))}; correct column 7, "
                "or use a file that is annotated with trees."
            )
        found.append(head)
    return found


def relations(sentence: Sequence[WordRow], path: str = "CoNLL-U") -> list[str]:
    """The relation of each word to its head."""
    for row in sentence:
        if row.fields[DEPREL] in ("", "_"):
            raise DataError(
                f"{path}:{row.line}: Every word needs a relation to its head, got "
                f"{row.fields[DEPREL]!r}; fill in column 8, or use a file that is annotated with "
                "trees."
            )
    return [row.fields[DEPREL] for row in sentence]
