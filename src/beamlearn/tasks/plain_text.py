"""How plain text is split for a model: as its settings say, or as its training data shows."""

from dataclasses import dataclass
from typing import Literal, get_args

from ..check import check_choice
from ..data.document import Document, DocumentForm
from ..data.plain_text import Splitting, text_document, unbroken
from ..data.text import DataError
from ..data.windows import Window
from .settings import Experiment, TextFiles, Tokenizer
from .task import PredictionRequest
from .vocabulary import Vocabulary

SPLIT = {
    "blanks": "at blanks",
    "words": "into words and punctuation marks",
    "characters": "into characters",
}


@dataclass(frozen=True)
class PlainText:
    """How lines of plain text become documents."""

    splitting: Splitting
    layout: Literal["conllu", "columns"]
    longest: int
    """The length of the longest word of the training data."""

    def document(self, window: Window) -> Document:
        """Some lines of the text."""
        lines, start = window.lines(), window.start.line
        found = text_document(lines, window.name, self.splitting, self.layout, start)
        check_broken(found, self.splitting, self.longest)
        return found

    def sentences(self, window: Window) -> int:
        """How many lines have words."""
        return sum(not line.isspace() for line in window.shown())


Form = DocumentForm | PlainText
"""What turns the windows of an input into documents."""


def plain_text(
    vocabulary: Vocabulary,
    experiment: Experiment,
    request: PredictionRequest,
    layout: Literal["conllu", "columns"],
) -> PlainText:
    """How the text of a request becomes documents; says how it is split."""
    data, chosen = experiment.data, request.options.get("tokenizer")
    own = data.tokenizer if isinstance(data, TextFiles) else "auto"
    splitting, why = splitting_of(chosen or own, vocabulary)
    request.announce(f"The text is split {SPLIT[splitting]}{why}.")
    return PlainText(splitting, layout, max(map(len, vocabulary.words), default=0))


def splitting_of(chosen: str, vocabulary: Vocabulary) -> tuple[Splitting, str]:
    """The way to split that was chosen or fits the training data, and why it is this one."""
    check_choice(chosen, get_args(Tokenizer), "tokenizer")
    if chosen == "auto" and single_characters(vocabulary):
        return "characters", ", as every word of the training data is one character"
    if chosen == "auto":
        return "words", " (`tokenizer` chooses another way)"
    return next(name for name in get_args(Splitting) if name == chosen), ""


def single_characters(vocabulary: Vocabulary) -> bool:
    """Is every word of the training data one character?"""
    return all(len(word) == 1 for word in vocabulary.words)


def check_broken(document: Document, splitting: Splitting, longest: int) -> None:
    """Refuse runs of letters that are longer than any word known: they are many words."""
    if splitting != "words":
        return
    for place, words in zip(document.begins, document.words(), strict=True):
        for word in words:
            if len(word) > longest and unbroken(word):
                raise DataError(
                    f"{document.path}:{place}: A text must have blanks between its words to be "
                    f"split, but {word[:20]!r} is longer than any word of the training data; put "
                    "blanks between the words and give `tokenizer=blanks`."
                )
