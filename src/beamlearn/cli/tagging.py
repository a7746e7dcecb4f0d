"""Tagging on the command line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, final

from ..data.document import Document, read_document
from ..data.text import DataError
from ..tasks.decoding import in_order
from ..tasks.tagging.decode import tag
from ..tasks.tagging.model import Tagger
from ..tasks.tagging.sentences import TaggedSentences, read_sentences
from ..tasks.tagging.settings import Layout, TaggingExperiment
from ..tasks.tagging.task import TAGGING
from ..training.settings import SettingsError
from .task import Asked, Options, TaskCommands, behind_bar, json_lines


@final
class TagCommands(TaskCommands[TaggingExperiment, TaggedSentences, Tagger]):
    """What the commands say and do for taggers."""

    kind = TAGGING
    help = """Train a tagger: one label for each word.

    [bold]Examples[/bold]

    beamlearn train tag --train train.conllu --dev dev.conllu --column upos --out runs/pos

    beamlearn train tag --train ner.tsv --column 2 --constrained --width 1:8 --out runs/ner

    beamlearn train tag --out runs/pos --resume
    """
    options = frozenset({"column", "layout"})
    table: Mapping[str, str] = {
        "accuracy": "accuracy",
        "known_accuracy": "known words",
        "unknown_accuracy": "unknown words",
        "sentence_accuracy": "sentences",
        "f1": "span F1",
        "increases_per_example": "cost increases / sentence",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "words_per_second": "words/s",
    }

    def size(self, model: Tagger, examples: int) -> str:
        return f"{examples:,} sentences, {len(model.lexicon.tags)} tags"

    def score(self, result: Mapping[str, Any]) -> str:
        spans = f", span F1 {result['f1']:.2%}" if "f1" in result else ""
        return f"accuracy {result['accuracy']:.2%}{spans}"

    def predict(self, model: Tagger, experiment: TaggingExperiment, asked: Asked) -> str:
        document = read_document(asked.input, layout_of(asked.options))
        column = asked.options.get("column") or column_of(experiment, document)
        sentences = document.words()
        found = tag(model, sentences, asked.width, nbest=asked.nbest)
        taggings = in_order(behind_bar(found, len(sentences), "tagging"))
        if not (asked.as_json or asked.listing):
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

    def read(
        self, file: str, model: Tagger, experiment: TaggingExperiment, options: Options
    ) -> TaggedSentences:
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
                f"`column` must be given as --column, as training had column {column} of a file "
                f"in another layout than {document.path}."
            )
    return column


def check_labels(tagger: Tagger, sentences: TaggedSentences, file: str) -> None:
    """Refuse labels of which the model knows none: they are of another kind."""
    found = {tag for tags in sentences.tags for tag in tags}
    if not found & set(tagger.lexicon.tags):
        raise DataError(
            f"{file}: Labels such as {', '.join(tagger.lexicon.tags[:3])} were expected, but the "
            f"model knows none of {', '.join(sorted(found)[:3])}; name another --column."
        )
