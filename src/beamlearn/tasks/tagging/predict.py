"""What `predict` writes for taggers, and what they are tested on."""

from pathlib import Path
from typing import cast

from ...data.document import Document, read_document
from ...data.text import DataError
from ...training.settings import SettingsError
from ..decoding import in_order, json_lines
from ..task import Options, PredictionRequest
from .decode import tag
from .model import Tagger
from .sentences import TaggedSentences, read_sentences
from .settings import Layout, TaggingExperiment


def predictions(model: Tagger, experiment: TaggingExperiment, request: PredictionRequest) -> str:
    """The same file with the tags in it, or JSON lines."""
    document = read_document(request.input, layout_of(request.options))
    column = request.options.get("column") or column_of(experiment, document)
    sentences = document.words()
    found = tag(model, sentences, request.width, nbest=request.nbest)
    taggings = in_order(request.progress(found, len(sentences), "tagging"))
    if not (request.as_json or request.listing):
        return document.rewrite(column, [tagging.tags for tagging in taggings])
    return json_lines(
        {
            "words": words,
            "tags": tagging.tags,
            "confidence": tagging.confidence,
            "nbest": [vars(way) for way in tagging.nbest],
        }
        for words, tagging in zip(sentences, taggings, strict=True)
    )


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


def column_of(experiment: TaggingExperiment, document: Document) -> str:
    """The column of training, if it means the same in this file."""
    column, data = experiment.column, experiment.data
    if data is not None and column.lstrip("-").isdecimal():
        learned = Path(data.train).name.removesuffix(".gz").endswith(".conllu")
        if (learned or data.layout == "conllu") != (document.layout == "conllu"):
            raise SettingsError(
                f"`column` must be given, as training had column {column} of a file in another "
                f"layout than {document.path}."
            )
    return column


def check_labels(tagger: Tagger, sentences: TaggedSentences, file: str) -> None:
    """Refuse labels of which the model knows none: they are of another kind."""
    found = {tag for tags in sentences.tags for tag in tags}
    if not found & set(tagger.lexicon.tags):
        raise DataError(
            f"{file}: Expected labels such as {', '.join(tagger.lexicon.tags[:3])}, got "
            f"{', '.join(sorted(found)[:3])}, of which the model knows none; name another "
            "`column`."
        )
