"""One input that somebody sends, as the text that `predict` reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..check import quoted
from ..data.conllu import FIELDS, FORM, UPOS, XPOS
from ..data.text import BYTE_ORDER_MARK, DataError


@dataclass(frozen=True)
class Words:
    """A sentence that is split already, maybe with tags; or the items of a history."""

    words: Sequence[str]
    tags: Sequence[str] | None = None


Sent = str | Words
"""What an input is before a task has seen it."""


@dataclass(frozen=True)
class Question:
    """The text of one input, and how it is to be read."""

    text: str
    """With its line ends."""
    options: tuple[tuple[str, str], ...] = ()
    """Those of `PredictionRequest`."""


def line_of(sent: Sent, options: tuple[tuple[str, str], ...] = ()) -> Question:
    r"""A text as one line.

    >>> line_of("The dog barks.").text
    'The dog barks.\n'
    """
    if not isinstance(sent, str):
        raise DataError("An input must be a text for this model, got a list of words; join them.")
    text = sent.lstrip(BYTE_ORDER_MARK)
    if any(character in text for character in "\t\n\r"):
        raise DataError(
            f"An input must be one line without tabs, got {quoted(sent)}; send several inputs for "
            "several lines."
        )
    check_characters(text)
    return Question(f"{text}\n", options)


def blanked(sent: Sent) -> Question:
    r"""Items with blanks between them, as one line.

    >>> blanked(Words(["b12", "b7"])).text
    'b12 b7\n'
    """
    if isinstance(sent, str):
        return line_of(sent)
    check_untagged(sent)
    for item in sent.words:
        if len(item.split()) != 1:
            raise DataError(f"An item must have no blanks, got {quoted(item)}; check its name.")
    return line_of(" ".join(sent.words))


def conllu_of(sent: Words, column: str) -> Question:
    r"""Words, and maybe their tags, in CoNLL-U; answers go to `column`.

    >>> conllu_of(Words(["Go"], ["VERB"]), "upos").text
    '1\tGo\t_\tVERB\tVERB\t_\t_\t_\t_\t_\n\n'
    """
    tags = ["_"] * len(sent.words) if sent.tags is None else sent.tags
    if len(tags) != len(sent.words):
        raise DataError(
            f"`tags` must be as many as `words`, got {len(tags)} and {len(sent.words)}; give each "
            "word one."
        )
    rows = []
    for number, (word, tag) in enumerate(zip(sent.words, tags, strict=True), 1):
        check_field(word, "word")
        check_field(tag, "tag")
        row = [str(number), *["_"] * (len(FIELDS) - 1)]
        row[FORM], row[UPOS], row[XPOS] = word, tag, tag
        rows.append("\t".join(row) + "\n")
    return Question("".join([*rows, "\n"]), (("column", column), ("layout", "conllu")))


def check_field(text: str, what: str) -> None:
    """Refuse what cannot be a word or a tag."""
    if not text or any(character in text for character in "\t\n\r"):
        raise DataError(
            f"A {what} must have characters, none of them a tab or a line end, got {quoted(text)}; "
            "leave it out."
        )
    check_characters(text)


def check_untagged(sent: Words) -> None:
    """Refuse tags where nobody looks at them."""
    if sent.tags is not None:
        raise DataError("`tags` are for parsers that look at tags, which this is not; drop them.")


def check_characters(text: str) -> None:
    """Refuse halves of characters, which JSON can hold and UTF-8 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"A text must have whole characters, got half of one, {quoted(text[error.start])}; "
            "check how it was encoded."
        ) from None
