"""Parsing, as experiments, the command line and estimators see it."""

from collections.abc import Mapping
from typing import Any, final

from ...evaluate import Evaluation
from ...settings import SettingsError
from ..kind import Kind
from .lexicon import Lexicon
from .model import Parser, scorer_of
from .report import ParsingReport, examples_of, report
from .sentences import Sentences, read_sentences
from .settings import Experiment
from .space import Encoded


@final
class ParsingKind(Kind[Experiment, Sentences, Parser]):
    """A tree over the words."""

    name = "parse"
    experiment = Experiment
    unit = "words"
    symbols = "words and relations"

    def read(self, path: str, experiment: Experiment) -> Sentences:
        return read_sentences(path, experiment.parser.tags)

    def build(self, experiment: Experiment, train: Sentences, seed: int, device: str) -> Parser:
        return Parser.build(experiment.parser, train, seed=seed, device=device)

    def rebuild(self, experiment: Experiment, vocabulary: Mapping[str, Any], device: str) -> Parser:
        lexicon = Lexicon.from_json(vocabulary)
        return Parser(experiment.parser, lexicon, scorer_of(experiment.parser, lexicon), device)

    def check_warm_start(self, model: Parser, train: Sentences, source: str) -> None:
        known = {*model.lexicon.relations, *model.lexicon.root_relations}
        missing = {relation for tree in train.trees for relation in tree.relations} - known
        if missing:
            raise SettingsError(
                f"`warm_start`: {source} must know every relation of the training data, but it has "
                f"no {sorted(missing)[0]!r}; train it on the same data."
            )

    def examples(self, model: Parser, data: Sentences) -> list[Encoded]:
        return examples_of(model, data)

    def judge(self, found: Evaluation, validation: Sentences) -> str:
        words = sum(map(len, validation.words))
        return f"attachment {1 - float(found.costs.sum()) / words:.2%}"

    def report(self, model: Parser, data: Sentences, width: int) -> ParsingReport:
        return report(model, data, width)


PARSING = ParsingKind()
