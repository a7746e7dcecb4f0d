"""Parsing on the command line."""

import json
import re
from collections.abc import Mapping
from typing import Any, final

from ..data.document import read_document
from ..data.text import DataError
from ..tasks.decoding import in_order
from ..tasks.parsing.decode import Parse, parse
from ..tasks.parsing.model import Parser
from ..tasks.parsing.sentences import ParsedSentences, tags_of
from ..tasks.parsing.settings import ParsingExperiment
from ..tasks.parsing.task import PARSING
from .task import Asked, Options, TaskCommands, behind_bar, json_lines

LISTED = re.compile("# parse_[0-9]+ = ")
"""The comments of n-best lists."""


@final
class ParseCommands(TaskCommands[ParsingExperiment, ParsedSentences, Parser]):
    """What the commands say and do for parsers."""

    kind = PARSING
    help = """Train a dependency parser: a head and a relation for each word.

    [bold]Examples[/bold]

    beamlearn train parse --train train.conllu --dev dev.conllu --out runs/parser

    beamlearn train parse --train train.conllu --tags upos --system arc-eager --out runs/eager

    beamlearn train parse --out runs/parser --resume
    """
    options = frozenset[str]()
    table: Mapping[str, str] = {
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

    def size(self, model: Parser, examples: int) -> str:
        return f"{examples:,} sentences, relations: {len(model.lexicon.plain_relations)}"

    def score(self, result: Mapping[str, Any]) -> str:
        return f"UAS {result['uas']:.2%}, LAS {result['las']:.2%}"

    def predict(self, model: Parser, experiment: ParsingExperiment, asked: Asked) -> str:
        document = read_document(asked.input, "conllu")
        sentences = document.words()
        tags = tags_of(document, experiment.parser.tags)
        sure = asked.as_json or asked.listing
        found = parse(model, sentences, tags, asked.width, nbest=asked.nbest, confidence=sure)
        parsings = in_order(behind_bar(found, len(sentences), "parsing"))
        if not asked.as_json:
            trees = [(parsing.tree.heads, parsing.tree.relations) for parsing in parsings]
            lists = [comments(parsing.nbest) for parsing in parsings] if asked.listing else None
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

    def read(
        self, file: str, model: Parser, experiment: ParsingExperiment, options: Options
    ) -> ParsedSentences:
        sentences = self.kind.read(file, experiment)
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
            f"{file}: Relations such as {', '.join(known[:3])} were expected, but the model knows "
            f"none of {', '.join(sorted(found)[:3])}; use a file with the relations of the "
            "training data."
        )
