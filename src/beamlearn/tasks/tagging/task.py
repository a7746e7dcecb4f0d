"""Tagging, as commands and estimators see it."""

from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, final

from ...check import by_name
from ...data.packed import PackedLists
from ...data.text import DataError
from ...data.windows import Unit, Window
from ...evaluation.evaluate import Evaluation
from ...evaluation.metric import Metric
from ...plural import counted
from ...training.batches import LazyExamples
from ...training.settings import SettingsError
from ..decoding import in_order
from ..question import Question, Sent, check_untagged, conllu_of, line_of
from ..task import Answering, Options, PredictionRequest, Ranges, Subject, TaskSpec
from .bio import is_bio, span_scores
from .decode import tag
from .lexicon import TaggingLexicon
from .linear import HISTORY, LinearTagger
from .model import Tagger, scorer_of
from .predict import answering, labeled, sentence_unit
from .report import TaggingReport, report
from .sentences import TaggedSentences, packed_sentences, read_sentences
from .settings import TaggingExperiment
from .space import TaggingExample

SPANS = {
    "f1": Metric("f1", "span F1"),
    "precision": Metric("precision", "precision"),
    "recall": Metric("recall", "recall"),
}
"""The numbers of spans."""


@final
class TaggingTask(TaskSpec[TaggingExperiment, TaggedSentences, Tagger]):
    """A label for each word."""

    name = "tag"
    experiment = TaggingExperiment
    unit = "words"
    symbols = "words and tags"
    metrics = (SPANS["f1"], Metric("accuracy", "accuracy"))
    columns: Mapping[str, str] = {
        "accuracy": "accuracy",
        "known_accuracy": "known words",
        "unknown_accuracy": "unknown words",
        "sentence_accuracy": "sentences",
        "f1": "span F1",
        "precision": "span precision",
        "recall": "span recall",
        "increases_per_example": "cost increases / sentence",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "words_per_second": "words/s",
    }
    options = frozenset({"column", "layout"})
    prediction_options = frozenset({"tokenizer"})
    step_cost = 1.0

    def read(self, path: str, experiment: TaggingExperiment) -> TaggedSentences:
        return read_sentences(path, experiment.column, experiment.layout)

    def read_packed(self, path: str, experiment: TaggingExperiment, cache: Path) -> TaggedSentences:
        return packed_sentences(path, experiment.column, experiment.layout, cache)

    def build(
        self, experiment: TaggingExperiment, train: TaggedSentences, seed: int, device: str
    ) -> Tagger:
        return Tagger.build(experiment.tagger, train.words, train.tags, seed=seed, device=device)

    def rebuild(
        self, experiment: TaggingExperiment, vocabulary: Mapping[str, Any], device: str
    ) -> Tagger:
        lexicon = TaggingLexicon.from_json(vocabulary)
        return Tagger(experiment.tagger, lexicon, scorer_of(experiment.tagger, lexicon), device)

    def check_warm_start(self, model: Tagger, train: TaggedSentences, source: str) -> None:
        missing = {tag for tags in train.tags for tag in tags} - set(model.lexicon.tags)
        if missing:
            raise SettingsError(
                f"`warm_start`: {source} must know every tag of the training data, but it has no "
                f"{sorted(missing)[0]!r}; train it on the same data and column."
            )

    def examples(self, model: Tagger, data: TaggedSentences) -> Sequence[Sized]:
        def encoded(place: int) -> TaggingExample:
            return model.encode(data.words[place], data.tags[place])

        if isinstance(data.words, PackedLists):
            return LazyExamples(encoded, data.words.lengths.tolist())
        return [encoded(place) for place in range(len(data))]

    def sample(self, model: Tagger) -> TaggingExample:
        return model.encode(["word"], model.lexicon.tags[:1])

    def ranges(self, model: Tagger) -> Ranges | None:
        if not isinstance(model.scorer, LinearTagger) or model.settings.constrained:
            return None  # constraints let one tag force others
        features = model.encode(["word"]).features.shape[-1] + HISTORY
        return Ranges(feature_norm=features, actions=len(model.lexicon.tags), cost=1.0)

    def validation_scores(
        self, model: Tagger, validation: TaggedSentences, width: int
    ) -> dict[Metric, float]:
        """F1, precision and recall of spans if the tags are BIO."""
        if not is_bio(model.lexicon.tags):
            return {}
        tags = [tagging.tags for tagging in in_order(tag(model, validation.words, width))]
        found = span_scores(validation.tags, tags)
        return {metric: found[name] for name, metric in SPANS.items()}

    def validation_loss(
        self, model: Tagger, found: Evaluation, scores: Mapping[Metric, float]
    ) -> float:
        """The cost; for spans, what is missing of their F1."""
        f1 = scores.get(SPANS["f1"])
        return found.cost if f1 is None else 1 - f1

    def describe_validation(self, found: Evaluation, validation: TaggedSentences) -> str:
        words = sum(map(len, validation.words))
        return f"accuracy {1 - float(found.costs.sum()) / words:.2%}"

    def subject(self, model: Tagger, data: TaggedSentences, number: int) -> Subject:
        return shown(model, data.words[number], data.tags[number])

    def typed(self, model: Tagger, text: str, right: str | None) -> Subject:
        words, tags = text.split(), None if right is None else right.split()
        if not words:
            raise DataError("Expected words with spaces between them, got none.")
        if tags is not None and len(tags) != len(words):
            raise DataError(
                f"Expected a right tag for each of the {counted(len(words), 'word')}, got "
                f"{len(tags)}; give as many, or none."
            )
        for name in tags or ():
            by_name(model.lexicon.tag_numbers, name, "tag")
        return shown(model, words, tags)

    def spell(self, model: Tagger, output: Sequence[int]) -> str:
        return " ".join(model.lexicon.tags[tag] for tag in output)

    def describe_data(self, model: Tagger, examples: int) -> str:
        return f"{counted(examples, 'sentence')}, {counted(len(model.lexicon.tags), 'tag')}"

    def describe_result(self, result: Mapping[str, Any]) -> str:
        spans = f", span F1 {result['f1']:.2%}" if "f1" in result else ""
        return f"accuracy {result['accuracy']:.2%}{spans}"

    def read_labeled(
        self, file: str, model: Tagger, experiment: TaggingExperiment, options: Options
    ) -> TaggedSentences:
        return labeled(file, model, experiment, options)

    def sentence_unit(self, options: Options) -> Unit:
        return sentence_unit(options)

    def question(self, sent: Sent) -> Question:
        if isinstance(sent, str):
            return line_of(sent, (("layout", "lines"),))
        check_untagged(sent)
        return conllu_of(sent, "upos")

    def answering(
        self,
        model: Tagger,
        experiment: TaggingExperiment,
        request: PredictionRequest,
        opening: Window,
    ) -> Answering:
        return answering(model, experiment, request, opening)

    def report(self, model: Tagger, data: TaggedSentences, width: int) -> TaggingReport:
        return report(model, data.words, data.tags, width)


def shown(model: Tagger, words: Sequence[str], tags: Sequence[str] | None) -> Subject:
    """A sentence to look at; every step decides on a word."""
    right = None if tags is None else " ".join(tags)
    names = tuple(words)
    example = model.encode(words, tags)
    return Subject(example, " ".join(words), right, names, aligned=True, words=names)


TAGGING = TaggingTask()
