"""What `predict` writes for parsers, and what they are tested on."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...check import check_choice
from ...data.document import Document, documents
from ...data.text import DataError
from ..decoding import json_lines
from ..footprint import fitting
from ..plain_text import text_documents
from ..sampling import sampled
from ..task import PredictionRequest
from .decode import Parse, Parsing, encoded_sentences, needed, parse
from .model import Parser
from .projective import decode
from .sentences import ParsedSentences, read_sentences, tags_of
from .settings import ParsingExperiment
from .tree import Tree

LISTED = re.compile("# parse_[0-9]+ = ")
"""The comments of n-best lists."""


def predictions(
    model: Parser, experiment: ParsingExperiment, request: PredictionRequest
) -> Iterator[str]:
    """The same file with the trees in it, or JSON lines; plain text is written as CoNLL-U."""
    layout, first = request.options.get("layout", "auto"), 0
    check_choice(layout, ("auto", "conllu", "lines"), "layout of files to parse")
    if request.texts or layout == "lines":
        check_untagged(experiment)
        parts = text_documents(model.lexicon, experiment, request, "conllu")
    else:
        parts = documents(request.input, "conllu", request.window)
    for document in parts:
        yield parsed(model, experiment, document, request, first)
        first += len(document.sentences)


def parsed(
    model: Parser,
    experiment: ParsingExperiment,
    document: Document,
    request: PredictionRequest,
    first: int,
) -> str:
    """What is written for a document; `first` sentences came before it."""
    sentences = document.words()
    needs = [needed(model, len(words), request.width) for words in sentences]
    fits = fitting(needs, document.begins, document.path, request)
    chosen, numbers = document.only(fits), [first + number for number in fits]
    tags = tags_of(chosen, experiment.parser.tags)
    if request.sample:
        encoded = encoded_sentences(model, chosen.words(), tags)
        drawn = sampled(model, encoded, request, numbers, lambda output: tree_of(model, output))
        samples = dict(request.progress(drawn, len(fits), "sampling"))
        return json_lines(
            {"words": words, "sample": samples.get(number, [])}
            for number, words in enumerate(sentences, first)
        )
    found = parse(
        model,
        chosen.words(),
        tags,
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
