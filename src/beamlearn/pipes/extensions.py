"""Extension attributes of spaCy, in which components leave confidences and n-best lists."""

from typing import Any

from spacy.tokens import Doc, Span, Token

TAGS, TREES, ENTITIES = "beamlearn_tags", "beamlearn_trees", "beamlearn_entities"
"""Of documents: for each sentence an n-best list, best first."""
TAG_CONFIDENCE, ARC_CONFIDENCE = "beamlearn_tag_confidence", "beamlearn_arc_confidence"
"""Of tokens: the share of the final beam that agrees on the tag, or on head and relation."""
ENTITY_CONFIDENCE = "beamlearn_confidence"
"""Of entities: the share of the final beam that has it, with the same words and label."""


def declare() -> None:
    """Make the attributes known to spaCy; nothing happens to those that are."""
    for kind, names in (
        (Doc, (TAGS, TREES, ENTITIES)),
        (Token, (TAG_CONFIDENCE, ARC_CONFIDENCE)),
        (Span, (ENTITY_CONFIDENCE,)),
    ):
        for name in names:
            if not kind.has_extension(name):
                kind.set_extension(name, default=None)


def put(target: Any, name: str, value: Any) -> None:
    """Set an extension attribute of a document, a token or a span."""
    target._.set(name, value)
