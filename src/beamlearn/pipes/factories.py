"""The components by the names that `nlp.add_pipe` knows."""

from typing import Any

from spacy.language import Language

from ..check import check_choice
from .component import BeamComponent
from .entities import Entities
from .job import Job
from .tags import Attribute, Tags
from .trees import Trees

TAGGER, PARSER, NER = "beamlearn_tagger", "beamlearn_parser", "beamlearn_ner"
DEFAULTS: dict[str, Any] = {"run": None, "width": None, "nbest": 1, "device": "cpu"}
"""The settings that all of them have."""


@Language.factory(
    TAGGER,
    default_config={**DEFAULTS, "attribute": "auto"},
    assigns=["token._.beamlearn_tag_confidence", "doc._.beamlearn_tags"],
)
def make_tagger(
    nlp: Language,
    name: str,
    run: str | None,
    width: int | None,
    nbest: int,
    device: str,
    attribute: str,
) -> BeamComponent:
    """A tagger: `token.pos_`, `token.tag_` or `token.morph`."""
    known: dict[str, Attribute] = {
        "auto": "auto",
        "pos": "pos",
        "tag": "tag",
        "morph": "morph",
    }
    check_choice(attribute, known, "attribute")
    return made(nlp, name, TAGGER, Tags(known[attribute]), run, width, nbest, device)


@Language.factory(
    PARSER,
    default_config=DEFAULTS,
    requires=["token.sent_start"],
    assigns=[
        *("token.dep", "token.head", "token._.beamlearn_arc_confidence"),
        "doc._.beamlearn_trees",
    ],
)
def make_parser(
    nlp: Language, name: str, run: str | None, width: int | None, nbest: int, device: str
) -> BeamComponent:
    """A dependency parser: `token.head` and `token.dep_`."""
    return made(nlp, name, PARSER, Trees(), run, width, nbest, device)


@Language.factory(
    NER,
    default_config=DEFAULTS,
    assigns=["doc.ents", "span._.beamlearn_confidence", "doc._.beamlearn_entities"],
)
def make_ner(
    nlp: Language, name: str, run: str | None, width: int | None, nbest: int, device: str
) -> BeamComponent:
    """An entity recognizer: `doc.ents`."""
    return made(nlp, name, NER, Entities(), run, width, nbest, device)


def made(
    nlp: Language,
    name: str,
    factory: str,
    job: Job,
    run: str | None,
    width: int | None,
    nbest: int,
    device: str,
) -> BeamComponent:
    """A component, with the model of its run if there is one already."""
    component = BeamComponent(
        nlp, name, job, factory=factory, width=width, nbest=nbest, device=device
    )
    if run is not None:
        component.take(run)
    return component
