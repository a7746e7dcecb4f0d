"""Parsing, as experiments, the command line and estimators see it."""

from collections.abc import Mapping, Sequence
from typing import Any, final

from ...data.text import DataError
from ...evaluation.evaluate import Evaluation
from ...training.settings import SettingsError
from ..task import Kind, Subject
from .lexicon import Lexicon
from .model import Parser, scorer_of
from .report import ParsingReport, examples_of, report
from .sentences import Sentences, read_sentences
from .settings import Experiment
from .space import Encoded
from .tree import Tree


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

    def sample(self, model: Parser) -> Encoded:
        return model.encode(["word"], ["tag"], Tree((0,), ("root",)))

    def judge(self, found: Evaluation, validation: Sentences) -> str:
        words = sum(map(len, validation.words))
        return f"attachment {1 - float(found.costs.sum()) / words:.2%}"

    def subject(self, model: Parser, data: Sentences, number: int) -> Subject:
        words, tree = data.words[number], data.trees[number]
        tags = None if data.tags is None else data.tags[number]
        arcs = [*zip(tree.heads, tree.relations, strict=True)]
        right = self.spell(model, arcs)
        return Subject(model.encode(words, tags, tree), " ".join(words), right, aligned=True)

    def typed(self, model: Parser, text: str, right: str | None) -> Subject:
        if right is not None:
            raise DataError(
                "A right tree cannot be typed; leave it out, or give the sentence in a file."
            )
        words = text.split()
        if not words:
            raise DataError("Words with spaces between them were expected, but none came.")
        if not model.lexicon.tags:
            return Subject(model.encode(words), text)
        pairs = [word.rpartition("/") for word in words]
        bare = next((tag for word, _, tag in pairs if not word), None)
        if bare is not None:
            raise DataError(
                f"This parser looks at tags, as in dogs/NOUN bark/VERB, but {bare!r} has none; "
                "write it behind each word."
            )
        return Subject(model.encode([p[0] for p in pairs], [p[2] for p in pairs]), text)

    def spell(self, model: Parser, output: Sequence[tuple[int, str]]) -> str:
        return " ".join(f"{head}:{name}" if head >= 0 else "_" for head, name in output)

    def report(self, model: Parser, data: Sentences, width: int) -> ParsingReport:
        return report(model, data, width)


PARSING = ParsingKind()
