"""Tagging, as experiments, the command line and estimators see it."""

from collections.abc import Mapping, Sequence
from typing import Any, final

from ...check import by_name
from ...data.text import DataError
from ...evaluation.evaluate import Evaluation
from ...training.settings import SettingsError
from ..task import Kind, Ranges, Subject
from .experiment import Experiment
from .lexicon import Lexicon
from .linear import HISTORY, LinearTagger
from .model import Tagger, scorer_of
from .report import TaggingReport, report
from .sentences import Sentences, read_sentences
from .space import Encoded


@final
class TaggingKind(Kind[Experiment, Sentences, Tagger]):
    """A label for each word."""

    name = "tag"
    experiment = Experiment
    unit = "words"
    symbols = "words and tags"
    step_cost = 1.0

    def read(self, path: str, experiment: Experiment) -> Sentences:
        return read_sentences(path, experiment.column, experiment.layout)

    def build(self, experiment: Experiment, train: Sentences, seed: int, device: str) -> Tagger:
        return Tagger.build(experiment.tagger, train.words, train.tags, seed=seed, device=device)

    def rebuild(self, experiment: Experiment, vocabulary: Mapping[str, Any], device: str) -> Tagger:
        lexicon = Lexicon.from_json(vocabulary)
        return Tagger(experiment.tagger, lexicon, scorer_of(experiment.tagger, lexicon), device)

    def check_warm_start(self, model: Tagger, train: Sentences, source: str) -> None:
        missing = {tag for tags in train.tags for tag in tags} - set(model.lexicon.tags)
        if missing:
            raise SettingsError(
                f"`warm_start`: {source} must know every tag of the training data, but it has no "
                f"{sorted(missing)[0]!r}; train it on the same data and column."
            )

    def examples(self, model: Tagger, data: Sentences) -> list[Encoded]:
        return [
            model.encode(words, tags) for words, tags in zip(data.words, data.tags, strict=True)
        ]

    def sample(self, model: Tagger) -> Encoded:
        return model.encode(["word"], model.lexicon.tags[:1])

    def ranges(self, model: Tagger) -> Ranges | None:
        if not isinstance(model.scorer, LinearTagger) or model.settings.constrained:
            return None  # constraints let one tag force others
        features = model.encode(["word"]).features.shape[-1] + HISTORY
        return Ranges(feature_norm=features, actions=len(model.lexicon.tags), cost=1.0)

    def judge(self, found: Evaluation, validation: Sentences) -> str:
        words = sum(map(len, validation.words))
        return f"accuracy {1 - float(found.costs.sum()) / words:.2%}"

    def subject(self, model: Tagger, data: Sentences, number: int) -> Subject:
        return shown(model, data.words[number], data.tags[number])

    def typed(self, model: Tagger, text: str, right: str | None) -> Subject:
        words, tags = text.split(), None if right is None else right.split()
        if not words:
            raise DataError("Words with spaces between them were expected, but none came.")
        if tags is not None and len(tags) != len(words):
            raise DataError(
                f"A right tag for each of the {len(words)} words was expected, but {len(tags)} "
                "came; give as many, or none."
            )
        for tag in tags or ():
            by_name(model.lexicon.tag_numbers, tag, "tag")
        return shown(model, words, tags)

    def spell(self, model: Tagger, output: Sequence[int]) -> str:
        return " ".join(model.lexicon.tags[tag] for tag in output)

    def report(self, model: Tagger, data: Sentences, width: int) -> TaggingReport:
        return report(model, data.words, data.tags, width)


def shown(model: Tagger, words: Sequence[str], tags: Sequence[str] | None) -> Subject:
    """A sentence to look at; every step decides on a word."""
    right = None if tags is None else " ".join(tags)
    return Subject(model.encode(words, tags), " ".join(words), right, tuple(words), aligned=True)


TAGGING = TaggingKind()
