"""What `predict` writes for parsers, and what they are tested on."""

import json
import re
from typing import Any

from ...data.document import read_document
from ...data.text import DataError
from ..decoding import in_order, json_lines
from ..task import PredictionRequest
from .decode import Parse, parse
from .model import Parser
from .sentences import ParsedSentences, read_sentences, tags_of
from .settings import ParsingExperiment

LISTED = re.compile("# parse_[0-9]+ = ")
"""The comments of n-best lists."""


def predictions(model: Parser, experiment: ParsingExperiment, request: PredictionRequest) -> str:
    """The same file with the trees in it, or JSON lines."""
    document = read_document(request.input, "conllu")
    sentences = document.words()
    tags = tags_of(document, experiment.parser.tags)
    sure = request.as_json or request.listing
    found = parse(model, sentences, tags, request.width, nbest=request.nbest, confidence=sure)
    parsings = in_order(request.progress(found, len(sentences), "parsing"))
    if not request.as_json:
        trees = [(parsing.tree.heads, parsing.tree.relations) for parsing in parsings]
        lists = [comments(parsing.nbest) for parsing in parsings] if request.listing else None
        return document.rewrite_trees(trees, lists, stale=LISTED)
    return json_lines(
        {
            "words": words,
            "heads": parsing.tree.heads,
            "relations": parsing.tree.relations,
            "confidence": parsing.confidence,
            "nbest": [record(way) for way in parsing.nbest],
        }
        for words, parsing in zip(sentences, parsings, strict=True)
    )


def labeled(file: str, model: Parser, experiment: ParsingExperiment) -> ParsedSentences:
    """Sentences with trees, of whose relations the model knows at least one."""
    sentences = read_sentences(file, experiment.parser.tags)
    check_relations(model, sentences, file)
    return sentences


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
