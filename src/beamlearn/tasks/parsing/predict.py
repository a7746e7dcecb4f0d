"""What `predict` writes for parsers, and what they are tested on."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ...check import check_choice
from ...data.document import Document, DocumentForm
from ...data.text import DataError
from ...data.windows import Unit, Window
from ..decoding import json_lines
from ..footprint import fitting
from ..plain_text import Form, plain_text
from ..sampling import sampled
from ..task import Answering, Options, PredictionRequest
from .decode import Parse, Parsing, encoded_sentences, needed, parse
from .model import Parser
from .projective import decode
from .sentences import ParsedSentences, read_sentences, tags_of
from .settings import ParsingExperiment
from .tree import Tree

LISTED = re.compile("# parse_[0-9]+ = ")
"""The comments of n-best lists."""


def sentence_unit(options: Options) -> Unit:
    """What a sentence is in the input."""
    layout = options.get("layout", "auto")
    check_choice(layout, ("auto", "conllu", "lines"), "layout of files to parse")
    return "line" if layout == "lines" else "block"


def answering(
    model: Parser, experiment: ParsingExperiment, request: PredictionRequest
) -> "ParseAnswering":
    """How to parse a CoNLL-U file, or plain text."""
    tags = experiment.parser.tags
    if request.options.get("layout") == "lines":
        check_untagged(experiment)
        return ParseAnswering(plain_text(model.lexicon, experiment, request, "conllu"), tags)
    return ParseAnswering(DocumentForm("conllu"), tags)


@final
@dataclass(frozen=True)
class ParseAnswering(Answering):
    """The same file with the trees in it, or JSON lines; plain text is written as CoNLL-U."""

    form: Form
    tags: str
    """The column that the parser looks at."""

    def sentences(self, window: Window) -> int:
        return self.form.sentences(window)

    def check(self, window: Window) -> None:
        tags_of(self.form.document(window), self.tags)

    def answer(self, model: Parser, window: Window, request: PredictionRequest) -> str:
        document = self.form.document(window)
        return parsed(model, self.tags, document, request, window.start.sentence)


def parsed(
    model: Parser,
    tags: str,
    document: Document,
    request: PredictionRequest,
    first: int,
) -> str:
    """What is written for a document; `first` sentences came before it."""
    sentences = document.words()
    needs = [needed(model, len(words), request.width) for words in sentences]
    fits = fitting(needs, document.begins, document.path, request)
    chosen, numbers = document.only(fits), [first + number for number in fits]
    given = tags_of(chosen, tags)
    if request.sample:
        encoded = encoded_sentences(model, chosen.words(), given)
        drawn = sampled(model, encoded, request, numbers, lambda output: tree_of(model, output))
        samples = dict(request.progress(drawn, len(fits), "sampling"))
        return json_lines(
            {"words": words, "sample": samples.get(number, [])}
            for number, words in enumerate(sentences, first)
        )
    found = parse(
        model,
        chosen.words(),
        given,
        request.width,
        nbest=request.nbest,
        confidence=request.as_json or request.listing,
        numbers=numbers,
    )
    parsings = dict(request.progress(found, len(fits), "parsing"))
    if request.as_json:
        return json_lines(
            sentence_record(words, parsings.get(number))
            for number, words in enumerate(sentences, first)
        )
    answers = [parsings[number] for number in numbers]
    trees = [(parsing.tree.heads, parsing.tree.relations) for parsing in answers]
    lists = [comments(parsing.nbest) for parsing in answers] if request.listing else None
    return chosen.rewrite_trees(trees, lists, stale=LISTED)


def tree_of(model: Parser, output: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """A sampled output, as JSON has it."""
    built = Tree(tuple(head for head, _ in output), tuple(name for _, name in output))
    tree = decode(built) if model.settings.encodes else built
    return {"heads": tree.heads, "relations": tree.relations}


def check_untagged(experiment: ParsingExperiment) -> None:
    """Refuse plain text where a parser looks at tags."""
    tags = experiment.parser.tags
    if tags != "none":
        raise DataError(
            f"This parser needs a tag in column {tags.upper()} for each word, which plain text "
            "does not have; give a CoNLL-U file with tags."
        )


def labeled(file: str, model: Parser, experiment: ParsingExperiment) -> ParsedSentences:
    """Sentences with trees, of whose relations the model knows at least one."""
    sentences = read_sentences(file, experiment.parser.tags)
    check_relations(model, sentences, file)
    return sentences


def sentence_record(words: Sequence[str], parsing: Parsing | None) -> dict[str, Any]:
    """What a parser says of a sentence, as JSON has it; None: there was not enough memory."""
    return {
        "words": words,
        "heads": parsing and parsing.tree.heads,
        "relations": parsing and parsing.tree.relations,
        "confidence": parsing and parsing.confidence,
        "nbest": [record(way) for way in parsing.nbest] if parsing else [],
    }


def record(way: Parse) -> dict[str, Any]:
    """A way to parse a sentence, as JSON has it."""
    return {
        "heads": way.tree.heads,
        "relations": way.tree.relations,
        "score": way.score,
        "probability": way.probability,
    }


def comments(nbest: tuple[Parse, ...]) -> list[str]:
    """An n-best list as lines of CoNLL-U: `# parse_1 = {"heads": ...`."""
    return [
        f"# parse_{rank} = {json.dumps(record(way), ensure_ascii=False)}"
        for rank, way in enumerate(nbest, 1)
    ]


def check_relations(parser: Parser, sentences: ParsedSentences, file: str) -> None:
    """Refuse trees of which the model knows no relation: they are of another kind."""
    found = {relation for tree in sentences.trees for relation in tree.relations}
    known = parser.lexicon.plain_relations
    if not found & set(known):
        raise DataError(
            f"{file}: Expected relations such as {', '.join(known[:3])}, got "
            f"{', '.join(sorted(found)[:3])}, of which the model knows none; use a file with the "
            "relations of the training data."
        )
