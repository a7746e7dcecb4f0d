"""Dependency trees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc, Token

from ..data.text import DataError
from ..tasks.decoding import in_order
from ..tasks.parsing.decode import Parse, Parsing, parse
from .extensions import ARC_CONFIDENCE, TREES, put
from .job import Beam, Job
from .sentences import Sentence, has_sentences

ROOT = "ROOT"
"""What spaCy calls the relation of a root."""
SPACE = "dep"
"""The relation of white space to the word before it, as spaCy's own parser has it."""


@final
@dataclass
class Trees(Job):
    """A head and a relation for each token."""

    task = "parse"

    def check(self, model: Any, experiment: Any, run: str) -> None:
        pass

    def annotate(
        self, model: Any, docs: Sequence[Doc], sentences: Sequence[Sentence], beam: Beam
    ) -> None:
        if not all(map(has_sentences, docs)):
            raise DataError(
                "beamlearn_parser parses one sentence at a time, but a document does not say where "
                "its sentences begin; add a component that does before it, such as "
                "nlp.add_pipe('sentencizer')."
            )
        words = [sentence.words for sentence in sentences]
        tags = tags_of(sentences, model.settings.tags)
        parsings = in_order(parse(model, words, tags, beam.width, nbest=beam.nbest))
        answers: dict[Doc, list[tuple[Sentence, Parsing]]] = {doc: [] for doc in docs}
        for sentence, found in zip(sentences, parsings, strict=True):
            answers[sentence.doc].append((sentence, found))
        for doc, found_in in answers.items():
            fill(doc, found_in)
            put(doc, TREES, [[record(way) for way in found.nbest] for _, found in found_in])


def fill(doc: Doc, found_in: Sequence[tuple[Sentence, Parsing]]) -> None:
    """Write the best trees of all sentences of a document at once.

    One head after another would make spaCy move the borders of sentences in between.
    """
    arcs = spaces(doc)
    for sentence, found in found_in:
        tree = found.tree
        rows = zip(sentence.tokens, tree.heads, tree.relations, found.confidence, strict=True)
        for token, head, relation, sure in rows:
            target = token if head == 0 else sentence.tokens[head - 1]
            arcs[token.i] = (target.i - token.i, ROOT if head == 0 else relation)
            put(token, ARC_CONFIDENCE, sure)
    offsets = np.array([offset for offset, _ in arcs], dtype=np.int64).astype(np.uint64)
    names = np.array([doc.vocab.strings.add(name) for _, name in arcs], dtype=np.uint64)
    table: Any = np.stack([offsets, names], axis=1)  # a type of thinc stands in its signature
    doc.from_array([HEAD, DEP], table)


def spaces(doc: Doc) -> list[tuple[int, str]]:
    """For each token the way to the word of its sentence that white space hangs from."""
    arcs = []
    for sentence in doc.sents if len(doc) else []:
        words = [token.i for token in sentence if not token.is_space] or [sentence.start]
        for token in sentence:
            host = max((place for place in words if place < token.i), default=words[0])
            arcs.append((host - token.i, ROOT if host == token.i else SPACE))
    return arcs


def tags_of(sentences: Sequence[Sentence], column: str) -> list[list[str]] | None:
    """What the parser sees beside words, if it does."""
    if column == "none":
        return None
    return [[tag_of(token, column) for token in sentence.tokens] for sentence in sentences]


def tag_of(token: Token, column: str) -> str:
    """The tag of a token, which must have one."""
    found: str = token.pos_ if column == "upos" else token.tag_
    if not found:
        where = "token.pos_" if column == "upos" else "token.tag_"
        raise DataError(
            f"This parser needs a tag in {where} for each word, but {token.text!r} has none; add a "
            "tagger before it."
        )
    return found


def record(way: Parse) -> dict[str, Any]:
    """A way to parse a sentence; heads are numbers of words from 1 on, as in CoNLL-U."""
    return {
        "heads": list(way.tree.heads),
        "relations": list(way.tree.relations),
        "score": way.score,
        "probability": way.probability,
    }
