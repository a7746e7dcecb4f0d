"""The components by the names that `nlp.add_pipe` knows."""

from typing import TYPE_CHECKING, Any

from spacy.language import Language

if TYPE_CHECKING:
    from .component import BeamComponent
    from .job import Job

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
) -> "BeamComponent":
    """A tagger: `token.pos_`, `token.tag_` or `token.morph`."""
    from .tags import Tags

    return made(nlp, name, TAGGER, Tags.of(attribute), run, width, nbest, device)


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
) -> "BeamComponent":
    """A dependency parser: `token.head` and `token.dep_`."""
    from .trees import Trees

    return made(nlp, name, PARSER, Trees(), run, width, nbest, device)


@Language.factory(
    NER,
    default_config=DEFAULTS,
    assigns=["doc.ents", "span._.beamlearn_confidence", "doc._.beamlearn_entities"],
)
def make_ner(
    nlp: Language, name: str, run: str | None, width: int | None, nbest: int, device: str
) -> "BeamComponent":
    """An entity recognizer: `doc.ents`."""
    from .entities import Entities

    return made(nlp, name, NER, Entities(), run, width, nbest, device)


def made(
    nlp: Language,
    name: str,
    factory: str,
    job: "Job",
    run: str | None,
    width: int | None,
    nbest: int,
    device: str,
) -> "BeamComponent":
    """A component, with the model of its run if there is one already."""
    from .component import BeamComponent

    component = BeamComponent(
        nlp, name, job, factory=factory, width=width, nbest=nbest, device=device
    )
    if run is not None:
        component.take(run)
    return component
