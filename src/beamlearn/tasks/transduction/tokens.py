"""Tokens: what a text is cut into, and joined from."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, final, runtime_checkable

from pydantic import AfterValidator, Base64Bytes, Discriminator

from ...check import unknown
from ...data.text import DataError, unreadable

SPACE = re.compile(r"[ \t\n\r\f\v]+")
"""What separates words: other spaces of Unicode may be part of one."""


@runtime_checkable
class Tokenizer(Protocol):
    """A way to cut texts; an empty one has no tokens."""

    def cut(self, text: str) -> list[str]:
        """The tokens of a text."""
        ...

    def join(self, tokens: Sequence[str]) -> str:
        """The text of some tokens."""
        ...


@final
@dataclass(frozen=True)
class Characters:
    """The code points of Unicode; joining them gives the text back."""

    kind: Literal["characters"] = "characters"

    def cut(self, text: str) -> list[str]:
        return list(text)

    def join(self, tokens: Sequence[str]) -> str:
        return "".join(tokens)


@final
@dataclass(frozen=True)
class Words:
    """What stands between spaces.

    Joined words have one space between them, whatever the text had: it comes back where it
    has single spaces, and none at its ends.
    """

    kind: Literal["words"] = "words"

    def cut(self, text: str) -> list[str]:
        return [word for word in SPACE.split(text) if word]

    def join(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)


@final
@dataclass(frozen=True)
class SentencePiece:
    """The pieces of a sentencepiece model.

    Joining them gives the text back as the model normalizes it: usually with single spaces,
    and in compatibility forms (NFKC).
    """

    model: Base64Bytes = field(repr=False)
    """The bytes of its file, so that a run folder needs nothing beside it."""
    kind: Literal["sentencepiece"] = "sentencepiece"

    @cached_property
    def engine(self) -> Any:
        """What cuts and joins."""
        sentencepiece = package("sentencepiece")
        try:
            engine = sentencepiece.SentencePieceProcessor(model_proto=self.model)
            engine.encode("a", out_type=str)  # an empty model is noticed only here
        except Exception as error:
            raise DataError(
                f"This is not a sentencepiece model ({error}); give the .model file that its "
                "training wrote."
            ) from error
        return engine

    def cut(self, text: str) -> list[str]:
        return list(self.engine.encode(text, out_type=str)) if text else []

    def join(self, tokens: Sequence[str]) -> str:
        return str(self.engine.decode(list(tokens))) if tokens else ""


@final
@dataclass(frozen=True)
class HuggingFace:
    """The tokens of a tokenizer.json, the format of Hugging Face and the package tokenizers.

    Special tokens are not added, texts are neither padded nor cut off, and there is no
    dropout. What joining gives back depends on the normalizer and the decoder in the file: at
    the level of bytes all of the text, elsewhere perhaps without spaces, capitals or unknown
    characters.
    """

    model: Base64Bytes = field(repr=False)
    """The bytes of its file, so that a run folder needs nothing beside it."""
    kind: Literal["tokenizers"] = "tokenizers"

    @cached_property
    def engine(self) -> Any:
        """What cuts and joins."""
        tokenizers = package("tokenizers")
        try:
            return tokenizers.Tokenizer.from_str(steady(self.model))
        except Exception as error:  # it raises nothing narrower
            raise DataError(
                f"This is not a Hugging Face tokenizer ({error}); give the tokenizer.json that its "
                "`save` wrote."
            ) from error

    def cut(self, text: str) -> list[str]:
        if not text:
            return []
        engine = self.engine
        try:
            return list(engine.encode(text, add_special_tokens=False).tokens)
        except Exception as error:  # as above
            raise DataError(
                f"The tokenizer must be able to cut every text, but it failed on {text[:60]!r} "
                f"({error}); give it a token for unknown text."
            ) from error

    def join(self, tokens: Sequence[str]) -> str:
        decoder = self.engine.decoder
        return " ".join(tokens) if decoder is None else str(decoder.decode(list(tokens)))


AnyTokenizer = Annotated[Characters | Words | SentencePiece | HuggingFace, Discriminator("kind")]
NAMED: dict[str, type[Characters] | type[Words]] = {"characters": Characters, "words": Words}
FILES: dict[str, type[SentencePiece] | type[HuggingFace]] = {
    ".model": SentencePiece,
    ".json": HuggingFace,
}


def check_tokens(name: str) -> str:
    """Refuse what is neither the name of a kind of tokens nor the path of a model.

    The file need not exist: a run folder has its own copy.
    """
    if name not in NAMED and Path(name).suffix not in FILES:
        known = [*NAMED, *(f"FILE{suffix}" for suffix in FILES)]
        raise ValueError(unknown(known, name, "kind of tokens"))
    return name


TokensName = Annotated[str, AfterValidator(check_tokens)]
"""A setting: characters, words, or the path of a .model or .json file."""


def read_tokenizer(name: str) -> Characters | Words | SentencePiece | HuggingFace:
    """The tokenizer that a setting names; a file is loaded at once, so that errors show early."""
    if check_tokens(name) in NAMED:
        return NAMED[name]()
    try:
        tokenizer = FILES[Path(name).suffix](Path(name).read_bytes())
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    try:
        _ = tokenizer.engine
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    return tokenizer


def package(name: str) -> Any:
    """Import a package that is not always installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise DataError(
            f"These tokens need the package '{name}', which cannot be imported ({error}); run "
            "`pip install 'beamlearn[subwords]'`."
        ) from error


def steady(model: bytes) -> str:
    """A tokenizer.json without what pads texts, cuts them off or varies their tokens."""
    facts = json.loads(model)
    facts |= {"truncation": None, "padding": None}
    if "dropout" in facts["model"]:
        facts["model"]["dropout"] = None
    return json.dumps(facts)
