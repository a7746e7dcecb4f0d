"""The sentences of documents of spaCy, as models see them: tokens without those of white space."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Token


@dataclass(frozen=True)
class Sentence:
    """The tokens of a sentence that are words; there is at least one."""

    doc: Doc
    tokens: Sequence[Token]

    @property
    def words(self) -> list[str]:
        """What a model reads."""
        return [token.text for token in self.tokens]


def has_sentences(doc: Doc) -> bool:
    """Does it say where its sentences begin? Of up to one token nobody needs to."""
    return len(doc) < 2 or bool(doc.has_annotation("SENT_START"))


def sentences_of(docs: Sequence[Doc]) -> Iterator[Sentence]:
    """All sentences of some documents; one that does not say where they begin is one sentence."""
    for doc in docs:
        for span in doc.sents if has_sentences(doc) and len(doc) else [doc[:]]:
            tokens = [token for token in span if not token.is_space]
            if tokens:
                yield Sentence(doc, tokens)
