"""Parsing, as commands and estimators see it."""

from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, final

from ...data.text import DataError
from ...data.windows import Unit, Window
from ...evaluation.evaluate import Evaluation
from ...evaluation.metric import Metric
from ...plural import counted
from ...training.settings import SettingsError
from ..question import Question, Sent, conllu_of, line_of
from ..task import Answering, Arcs, Options, PredictionRequest, Subject, TaskSpec
from .attachment import arcs_of
from .lexicon import ParsingLexicon
from .model import Parser, scorer_of
from .predict import answering, labeled, sentence_unit
from .projective import decode
from .report import ParsingReport, examples_of, report
from .sentences import ParsedSentences, packed_sentences, read_sentences
from .settings import ParsingExperiment
from .space import ParsingExample
from .tree import Tree


@final
class ParsingTask(TaskSpec[ParsingExperiment, ParsedSentences, Parser]):
    """A tree over the words."""

    name = "parse"
    experiment = ParsingExperiment
    unit = "words"
    symbols = "words and relations"
    metrics = (Metric("las", "LAS"),)
    columns: Mapping[str, str] = {
        "uas": "UAS",
        "las": "LAS",
        "uas_without_punctuation": "UAS without punctuation",
        "las_without_punctuation": "LAS without punctuation",
        "conll18_las": "LAS without subtypes (CoNLL 2018)",
        "tree_accuracy": "trees",
        "increases_per_example": "cost increases / sentence",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "words_per_second": "words/s",
    }
    prediction_options = frozenset({"layout", "tokenizer"})

    def read(self, path: str, experiment: ParsingExperiment) -> ParsedSentences:
        return read_sentences(path, experiment.parser.tags)

    def read_packed(self, path: str, experiment: ParsingExperiment, cache: Path) -> ParsedSentences:
        return packed_sentences(path, experiment.parser.tags, cache)

    def build(
        self, experiment: ParsingExperiment, train: ParsedSentences, seed: int, device: str
    ) -> Parser:
        return Parser.build(experiment.parser, train, seed=seed, device=device)

    def rebuild(
        self, experiment: ParsingExperiment, vocabulary: Mapping[str, Any], device: str
    ) -> Parser:
        lexicon = ParsingLexicon.from_json(vocabulary)
        return Parser(experiment.parser, lexicon, scorer_of(experiment.parser, lexicon), device)

    def check_warm_start(self, model: Parser, train: ParsedSentences, source: str) -> None:
        known = {*model.lexicon.relations, *model.lexicon.root_relations}
        missing = {relation for tree in train.trees for relation in tree.relations} - known
        if missing:
            raise SettingsError(
                f"`warm_start`: {source} must know every relation of the training data, but it has "
                f"no {sorted(missing)[0]!r}; train it on the same data."
            )

    def examples(self, model: Parser, data: ParsedSentences) -> Sequence[Sized]:
        return examples_of(model, data)

    def sample(self, model: Parser) -> ParsingExample:
        return model.encode(["word"], ["tag"], Tree((0,), ("root",)))

    def describe_validation(self, found: Evaluation, validation: ParsedSentences) -> str:
        words = sum(map(len, validation.words))
        return f"attachment {1 - float(found.costs.sum()) / words:.2%}"

    def subject(self, model: Parser, data: ParsedSentences, number: int) -> Subject:
        words, tree = data.words[number], data.trees[number]
        tags = None if data.tags is None else data.tags[number]
        arcs = arcs_of(tree)
        return Subject(
            model.encode(words, tags, tree),
            " ".join(words),
            spelled(arcs),
            aligned=True,
            words=tuple(words),
            arcs=arcs,
        )

    def typed(self, model: Parser, text: str, right: str | None) -> Subject:
        if right is not None:
            raise DataError(
                "A right tree cannot be typed; leave it out, or give the sentence in a file."
            )
        words = text.split()
        if not words:
            raise DataError("Expected words with spaces between them, got none.")
        if not model.lexicon.tags:
            return Subject(model.encode(words), text, aligned=True, words=tuple(words))
        pairs = [word.rpartition("/") for word in words]
        bare = next((tag for word, _, tag in pairs if not word), None)
        if bare is not None:
            raise DataError(
                f"This parser looks at tags, as in dogs/NOUN bark/VERB, but {bare!r} has none; "
                "write it behind each word."
            )
        forms = tuple(pair[0] for pair in pairs)
        example = model.encode(forms, [pair[2] for pair in pairs])
        return Subject(example, text, aligned=True, words=forms)

    def spell(self, model: Parser, output: Sequence[tuple[int, str]]) -> str:
        return spelled(self.arcs(model, output))

    def arcs(self, model: Parser, output: Sequence[tuple[int, str]]) -> Arcs:
        """The arcs without marks, where all words have their heads."""
        if not model.settings.encodes or any(head < 0 for head, _ in output):
            return output
        heads, relations = tuple(head for head, _ in output), tuple(name for _, name in output)
        return arcs_of(decode(Tree(heads, relations)))

    def describe_data(self, model: Parser, examples: int) -> str:
        return f"{counted(examples, 'sentence')}, relations: {len(model.lexicon.plain_relations)}"

    def describe_result(self, result: Mapping[str, Any]) -> str:
        return f"UAS {result['uas']:.2%}, LAS {result['las']:.2%}"

    def read_labeled(
        self, file: str, model: Parser, experiment: ParsingExperiment, options: Options
    ) -> ParsedSentences:
        return labeled(file, model, experiment)

    def sentence_unit(self, options: Options) -> Unit:
        return sentence_unit(options)

    def question(self, sent: Sent) -> Question:
        if isinstance(sent, str):
            return line_of(sent, (("layout", "lines"),))
        return conllu_of(sent, "upos")

    def answering(
        self,
        model: Parser,
        experiment: ParsingExperiment,
        request: PredictionRequest,
        opening: Window,
    ) -> Answering:
        return answering(model, experiment, request)

    def report(self, model: Parser, data: ParsedSentences, width: int) -> ParsingReport:
        return report(model, data, width)


def spelled(arcs: Arcs) -> str:
    """The arcs of all words as people read them.

    >>> spelled([(2, "det"), (0, "root"), (-1, "")])
    '2:det 0:root _'
    """
    return " ".join(f"{head}:{name}" if head >= 0 else "_" for head, name in arcs)


PARSING = ParsingTask()
