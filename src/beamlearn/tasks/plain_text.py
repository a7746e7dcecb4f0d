"""How plain text is split for a model: as its settings say, or as its training data shows."""

from collections.abc import Iterator
from typing import Literal, get_args

from ..check import check_choice
from ..data.document import Document
from ..data.plain_text import Splitting, text_document, unbroken
from ..data.text import DataError, iterate_lines, name_of
from ..data.windows import line_windows
from .settings import Experiment, TextFiles, Tokenizer
from .task import PredictionRequest
from .vocabulary import Vocabulary

SPLIT = {
    "blanks": "at blanks",
    "words": "into words and punctuation marks",
    "characters": "into characters",
}


def text_documents(
    vocabulary: Vocabulary,
    experiment: Experiment,
    request: PredictionRequest,
    layout: Literal["conllu", "columns"],
) -> Iterator[Document]:
    """The texts of a request, or the lines of its file, as documents; says how they are split."""
    data, chosen = experiment.data, request.options.get("tokenizer")
    own = data.tokenizer if isinstance(data, TextFiles) else "auto"
    splitting, why = splitting_of(chosen or own, vocabulary)
    request.announce(f"The text is split {SPLIT[splitting]}{why}.")
    lines = request.texts or iterate_lines(request.input)
    path = "`text`" if request.texts else name_of(request.input)
    for start, part in line_windows(lines, request.window):
        document = text_document(part, path, splitting, layout, start)
        check_broken(document, splitting, vocabulary)
        yield document


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


def check_broken(document: Document, splitting: Splitting, vocabulary: Vocabulary) -> None:
    """Refuse runs of letters that are longer than any word known: they are many words."""
    if splitting != "words":
        return
    longest = max(map(len, vocabulary.words), default=0)
    for place, words in zip(document.begins, document.words(), strict=True):
        for word in words:
            if len(word) > longest and unbroken(word):
                raise DataError(
                    f"{document.path}:{place}: A text must have blanks between its words to be "
                    f"split, but {word[:20]!r} is longer than any word of the training data; put "
                    "blanks between the words and give `tokenizer=blanks`."
                )
