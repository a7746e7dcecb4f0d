"""What `predict` writes for taggers, and what they are tested on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final, get_args

from ...check import check_choice
from ...data.document import Document, DocumentForm
from ...data.text import DataError
from ...data.windows import Unit, Window
from ...training.settings import SettingsError
from ..decoding import json_lines
from ..footprint import fitting
from ..plain_text import Form, plain_text, single_characters
from ..sampling import sampled
from ..task import Answering, Options, PredictionRequest
from .decode import Tagging, needed, tag
from .model import Tagger
from .sentences import TaggedSentences, read_sentences
from .settings import Layout, TaggingExperiment


def sentence_unit(options: Options) -> Unit:
    """What a sentence is in the input."""
    layout = options.get("layout", "auto")
    check_choice(layout, (*get_args(Layout), "lines"), "layout")
    return "line" if layout == "lines" else "block"


def answering(
    model: Tagger, experiment: TaggingExperiment, request: PredictionRequest, opening: Window
) -> "TagAnswering":
    """How to tag a file, or plain text."""
    options = request.options
    if options.get("layout") == "lines":
        form = plain_text(model.lexicon, experiment, request, "columns")
        return TagAnswering(form, column="2", guessed=False)
    found = DocumentForm.of(opening, layout_of(options))
    column = options.get("column") or column_of(experiment, found.layout, opening.name)
    return TagAnswering(found, column, found.guessed)


@final
@dataclass(frozen=True)
class TagAnswering(Answering):
    """The same file with the tags in it, or JSON lines; plain text as a word and its tag a line."""

    form: Form
    column: str
    """Where the tags go."""
    guessed: bool
    """Did nobody say what the layout of the file is?"""

    def sentences(self, window: Window) -> int:
        return self.form.sentences(window)

    def check(self, window: Window) -> None:
        self.form.document(window)

    def check_opening(self, model: Tagger, opening: Window) -> None:
        document = self.form.document(opening)
        if self.guessed:
            check_kind(model, document, self.column)

    def answer(self, model: Tagger, window: Window, request: PredictionRequest) -> str:
        document = self.form.document(window)
        return tagged(model, document, self.column, request, window.start.sentence)


def tagged(
    model: Tagger, document: Document, column: str, request: PredictionRequest, first: int
) -> str:
    """What is written for a document; `first` sentences came before it."""
    sentences = document.words()
    needs = [needed(model, len(words), request.width) for words in sentences]
    fits = fitting(needs, document.begins, document.path, request)
    chosen, numbers = document.only(fits), [first + number for number in fits]
    if request.sample:
        encoded = map(model.encode, chosen.words())
        drawn = sampled(model, encoded, request, numbers, lambda output: tags_of(model, output))
        samples = dict(request.progress(drawn, len(fits), "sampling"))
        return json_lines(
            {"words": words, "sample": samples.get(number, [])}
            for number, words in enumerate(sentences, first)
        )
    found = tag(model, chosen.words(), request.width, nbest=request.nbest, numbers=numbers)
    taggings = dict(request.progress(found, len(fits), "tagging"))
    if request.as_json or request.listing:
        return json_lines(
            record(words, taggings.get(number)) for number, words in enumerate(sentences, first)
        )
    return chosen.rewrite(column, [taggings[number].tags for number in numbers])


def tags_of(model: Tagger, output: Sequence[int]) -> dict[str, Any]:
    """A sampled output, as JSON has it."""
    return {"tags": [model.lexicon.tags[tag] for tag in output]}


def record(words: Sequence[str], tagging: Tagging | None) -> dict[str, Any]:
    """What a tagger says of a sentence, as JSON has it; None: there was not enough memory."""
    return {
        "words": words,
        "tags": tagging and tagging.tags,
        "confidence": tagging and tagging.confidence,
        "nbest": [vars(way) for way in tagging.nbest] if tagging else [],
    }


def labeled(
    file: str, model: Tagger, experiment: TaggingExperiment, options: Options
) -> TaggedSentences:
    """Sentences with tags, of which the model knows at least one."""
    column = options.get("column") or experiment.column
    sentences = read_sentences(file, column, layout_of(options))
    check_labels(model, sentences, file)
    return sentences


def layout_of(options: Options) -> Layout:
    """What the file looks like; reading it refuses a layout that does not exist."""
    return cast(Layout, options.get("layout", "auto"))


def column_of(experiment: TaggingExperiment, layout: str, path: str) -> str:
    """The column of training, if it means the same in this file."""
    column, data = experiment.column, experiment.data
    if data is not None and column.lstrip("-").isdecimal():
        learned = Path(data.train).name.removesuffix(".gz").endswith(".conllu")
        if (learned or data.layout == "conllu") != (layout == "conllu"):
            raise SettingsError(
                f"`column` must be given, as training had column {column} of a file in another "
                f"layout than {path}."
            )
    return column


def check_kind(tagger: Tagger, document: Document, column: str) -> None:
    """Refuse columns that are not words and maybe tags: they would be tagged all the same."""
    rows = [row for sentence in document.sentences for row in sentence]
    if document.layout != "columns" or not rows:
        return
    known, width = tagger.lexicon.tags, document.width
    if width == 1:
        long = [row for row in rows if len(row.fields[0]) > 1]
        if 2 * len(long) <= len(rows) or not single_characters(tagger.lexicon):
            return
        required, got = "one character on each line, as in the training data", long[0]
    else:
        index = document.index(column, appending=True)
        values = set() if index is None else {row.fields[index] for row in rows}
        if values & {*known, "_", ""} or (index is None and column == str(width + 1)):
            return
        required, got = f"a word on each line, and maybe its tag, such as {known[0]}", rows[0]
    line = document.lines[got.line - document.start].strip()
    raise DataError(
        f"{document.path}:{got.line}: Expected {required}, got {line!r:.60}; give `layout=lines` "
        "if each line is a sentence, or `layout=columns` to tag what is in column 1."
    )


def check_labels(tagger: Tagger, sentences: TaggedSentences, file: str) -> None:
    """Refuse labels of which the model knows none: they are of another kind."""
    found = {tag for tags in sentences.tags for tag in tags}
    if not found & set(tagger.lexicon.tags):
        raise DataError(
            f"{file}: Expected labels such as {', '.join(tagger.lexicon.tags[:3])}, got "
            f"{', '.join(sorted(found)[:3])}, of which the model knows none; name another "
            "`column`."
        )
