"""Named entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from spacy.tokens import Doc, Span

from ..tasks.decoding import in_order
from ..tasks.tagging.bio import is_bio, spans_in
from ..tasks.tagging.decode import Tagging, tag
from ..training.settings import SettingsError
from .extensions import ENTITIES, ENTITY_CONFIDENCE, put
from .job import Beam, Job
from .sentences import Sentence


@final
@dataclass
class Entities(Job):
    """The spans that BIO tags mark."""

    task = "tag"

    def check(self, model: Any, experiment: Any, run: str) -> None:
        if not is_bio(model.lexicon.tags):
            raise SettingsError(
                f"beamlearn_ner needs a tagger with BIO tags such as B-LOC, but the one in {run} "
                f"has {', '.join(model.lexicon.tags[:3])}; use beamlearn_tagger."
            )

    def annotate(
        self, model: Any, docs: Sequence[Doc], sentences: Sequence[Sentence], beam: Beam
    ) -> None:
        words = [sentence.words for sentence in sentences]
        taggings = in_order(tag(model, words, beam.width, nbest=beam.width))
        lists: dict[Doc, list[Any]] = {doc: [] for doc in docs}
        spans: dict[Doc, list[Span]] = {doc: [] for doc in docs}
        for sentence, found in zip(sentences, taggings, strict=True):
            for place, share in shares(found).items():
                span = span_of(sentence, place)
                put(span, ENTITY_CONFIDENCE, share)
                spans[sentence.doc].append(span)
            lists[sentence.doc].append(ways_of(sentence, found, beam.nbest))
        for doc in docs:
            doc.set_ents(spans[doc], default="outside")
            put(doc, ENTITIES, lists[doc])


Place = tuple[str, int, int]
"""The label, the first and the last word of an entity."""


def shares(found: Tagging) -> dict[Place, float]:
    """The entities of the best tags, and the share of the final beam that has each of them."""
    having = [(spans_in(way.tags), way.probability) for way in found.nbest]
    return {
        place: min(1.0, sum(share for places, share in having if place in places))
        for place in in_text_order(found.tags)
    }


def ways_of(sentence: Sentence, found: Tagging, nbest: int) -> list[dict[str, Any]]:
    """An n-best list: the entities of each way, by the tokens of the document."""
    return [
        {
            "entities": [
                [span.start, span.end, span.label_]
                for span in (span_of(sentence, place) for place in in_text_order(way.tags))
            ],
            "score": way.score,
            "probability": way.probability,
        }
        for way in found.nbest[:nbest]
    ]


def in_text_order(tags: Sequence[str]) -> list[Place]:
    """The entities of some tags, the first one first."""
    return sorted(spans_in(tags), key=lambda place: place[1])


def span_of(sentence: Sentence, place: Place) -> Span:
    """An entity in its document."""
    label, first, last = place
    tokens = sentence.tokens
    return Span(sentence.doc, tokens[first].i, tokens[last].i + 1, label=label)
