"""Tags of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Token

from ..check import by_name
from ..tasks.decoding import in_order
from ..tasks.tagging.decode import tag
from ..training.settings import SettingsError
from .extensions import TAG_CONFIDENCE, TAGS, put
from .job import Beam, Job
from .sentences import Sentence

Attribute = Literal["auto", "pos", "tag", "morph"]
"""Where a tagger leaves its tags: `token.pos_`, `token.tag_` or `token.morph`."""
COLUMNS: dict[str, Attribute] = {"upos": "pos", "feats": "morph"}
"""The attribute that holds what a column of CoNLL-U does; for others it is `tag`."""

NEEDS: dict[Attribute, str] = {
    "pos": "the universal parts of speech",
    "morph": "features such as Number=Sing",
}
"""What spaCy takes; as `tag`, it takes anything."""


def misfit(tags: Sequence[str], attribute: Attribute) -> str | None:
    """The first tag that an attribute cannot hold, if there is one."""
    others = {
        "pos": (name for name in tags if name not in {*IDS, "_"}),
        "morph": (name for name in tags if name != "_" and not all(map(is_feature, cut(name)))),
    }
    return next(iter(others.get(attribute, ())), None)


def cut(features: str) -> list[str]:
    """The single features of a tag."""
    return features.split("|")


def is_feature(text: str) -> bool:
    """Is it the name of a feature and a value?"""
    name, _, value = text.partition("=")
    return bool(name and value)


@final
@dataclass
class Tags(Job):
    """A tag for each token."""

    attribute: Attribute = "auto"
    task = "tag"

    @classmethod
    def of(cls, attribute: str) -> "Tags":
        """The job that leaves its tags in an attribute; refuse one that there is not."""
        known: dict[str, Attribute] = {name: name for name in get_args(Attribute)}
        return cls(by_name(known, attribute, "attribute"))

    def check(self, model: Any, experiment: Any, run: str) -> None:
        known = model.lexicon.tags
        if self.attribute == "auto":
            usual = COLUMNS.get(experiment.column, "tag")
            self.attribute = "tag" if misfit(known, usual) else usual
        if (other := misfit(known, self.attribute)) is not None:
            raise SettingsError(
                f"`attribute` = {self.attribute} needs {NEEDS[self.attribute]} as tags, but the "
                f"tagger in {run} has {other}; use tag."
            )

    def annotate(
        self, model: Any, docs: Sequence[Doc], sentences: Sequence[Sentence], beam: Beam
    ) -> None:
        words = [sentence.words for sentence in sentences]
        taggings = in_order(tag(model, words, beam.width, nbest=beam.nbest))
        lists: dict[Doc, list[Any]] = {doc: [] for doc in docs}
        for sentence, found in zip(sentences, taggings, strict=True):
            answers = zip(sentence.tokens, found.tags, found.confidence, strict=True)
            for token, name, sure in answers:
                self._put(token, name)
                put(token, TAG_CONFIDENCE, sure)
            ways = [{**vars(way), "tags": list(way.tags)} for way in found.nbest]
            lists[sentence.doc].append(ways)
        for doc, ways in lists.items():
            put(doc, TAGS, ways)
            for token in doc:
                if token.is_space:
                    self._put_space(token)

    def _put(self, token: Token, name: str) -> None:
        empty = "" if name == "_" else name
        if self.attribute == "pos":
            token.pos_ = empty
        elif self.attribute == "morph":
            set_morph(token, empty)
        else:
            token.tag_ = name

    def _put_space(self, token: Token) -> None:
        """White space has no words to tag; spaCy's own components give it these."""
        if self.attribute == "pos":
            token.pos_ = "SPACE"
        elif self.attribute == "tag":
            token.tag_ = "_SP"
        else:
            set_morph(token, "")


def set_morph(token: Any, features: str) -> None:
    """Set the morphology of a token, which the types of spaCy know nothing of."""
    token.set_morph(features)
