"""Plain text: one sentence on each line, split into words by a simple rule."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Literal

from . import conllu
from .document import Document
from .row import WordRow
from .text import bare

Splitting = Literal["blanks", "words", "characters"]
UNBROKEN = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"""How the names of letters begin whose scripts put no blanks between words."""
WORD = re.compile("[ld]+(?:-[ld]+|(?<=d),(?=d)[ld]+)*|[^ ]")
"""A word in terms of `kind`: inner hyphens and apostrophes belong to it, and inner points to
numbers."""


def split_words(text: str) -> list[str]:
    """The words of a text by the classes of Unicode; a punctuation mark is a word of its own.

    >>> split_words("The dog's 3.5-year-old (well-fed), isn't it?")
    ['The', "dog's", '3.5-year-old', '(', 'well-fed', ')', ',', "isn't", 'it', '?']
    """
    kinds = "".join(map(kind, text))
    return [text[found.start() : found.end()] for found in WORD.finditer(kinds)]


def kind(character: str) -> str:
    """The class of a character: l, a letter or a mark; d, a digit; -, what may stand in a word."""
    if character.isspace():
        return " "
    if character in "'\u2019-\u2010\u00b7":
        return "-"
    if character in ".,":
        return ","
    category = unicodedata.category(character)
    if category == "Nd":
        return "d"
    letter = category[0] in "LMN" or category == "Pc" or character in "\u200c\u200d"
    return "l" if letter else "."


def split_characters(text: str) -> list[str]:
    """The characters of a text without its blanks.

    >>> split_characters("側邊 冇")
    ['側', '邊', '冇']
    """
    return [character for character in text if not character.isspace()]


SPLITTERS: Mapping[str, Callable[[str], list[str]]] = {
    "blanks": str.split,
    "words": split_words,
    "characters": split_characters,
}
"""What splits the text of a line, by its name."""


def unbroken(word: str) -> bool:
    """Is this a run of letters of a script without blanks, so that it may be many words?

    >>> unbroken("冇乜嘢"), unbroken("word"), unbroken("冇")
    (True, False, False)
    """
    letters = [unicodedata.name(letter, "").startswith(UNBROKEN) for letter in word]
    return len(letters) > 1 and all(letters)


def text_document(
    lines: list[str],
    path: str,
    splitting: Splitting,
    layout: Literal["conllu", "columns"],
    start: int = 1,
) -> Document:
    """Plain text as a document with the words of each line; a line without words is left out.

    It is a column file with one column, or CoNLL-U with nothing but words, and the text in a
    comment. `start` is the number of the first line.
    """
    split = SPLITTERS[splitting]
    made: list[str] = []
    sentences: list[list[WordRow]] = []
    places: list[int] = []
    for place, line in enumerate(lines, start):
        text = bare(line, place)
        words = split(text)
        if not words:
            continue
        if layout == "conllu":
            made.append(f"# text = {' '.join(text.split())}\n")
        rows = [fields_of(word, number, layout) for number, word in enumerate(words, 1)]
        sentences.append([WordRow(row, len(made) + i) for i, row in enumerate(rows, 1)])
        places.append(place)
        made += [*("\t".join(row) + "\n" for row in rows), "\n"]
    return Document(path, made, sentences, layout, opening=(), places=places)


def fields_of(word: str, number: int, layout: Literal["conllu", "columns"]) -> tuple[str, ...]:
    """The fields of a word that nothing else is known of."""
    if layout == "columns":
        return (word,)
    return (str(number), word, *["_"] * (len(conllu.FIELDS) - 2))
