"""What a request says, checked; and what it gets."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from ..check import quoted, unknown
from ..tasks.question import Sent, Words
from .limits import Limits
from .refusal import Refusal


class TaggedWords(BaseModel):
    """A sentence that is split into words already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: list[StrictStr]
    tags: list[StrictStr] | None = None
    """For parsers that look at tags."""


Input = Annotated[
    StrictStr | list[StrictStr] | TaggedWords,
    Field(description="A text, a list of words (for rankers: of items), or words with tags."),
]


class Prediction(BaseModel):
    """A request: what to answer, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inputs: list[Input] = Field(min_length=1, description="What to answer, in order.")
    width: StrictInt | None = Field(None, ge=1, description="Width of the beam.")
    nbest: StrictInt = Field(1, ge=1, description="How many outputs to list for each input.")
    confidence: StrictBool = Field(True, description="Say how sure the model is of each output?")


class Predicted(BaseModel):
    """An answer."""

    outputs: list[dict[str, Any]] = Field(
        description="One object for each input: what `beamlearn predict --json` writes, or `error`."
    )
    width: int = Field(description="Width of the beam.")


class Failure(BaseModel):
    """Why there is no answer."""

    error: str


class Health(BaseModel):
    """How the server is."""

    alive: bool
    ready: bool = Field(description="Does it take requests?")
    model: str
    task: str
    version: str
    width: int = Field(description="Width of the beam, unless a request has another.")


def read_body(body: bytes, limits: Limits) -> Prediction:
    """The request in a body; a wrong one is refused with one sentence."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"The body must be JSON in UTF-8: {quoted(str(error))}.") from None
    try:
        asked = Prediction.model_validate(found)
    except ValidationError as error:
        raise Refusal(422, sentence(error)) from None
    if len(asked.inputs) > limits.max_inputs:
        raise Refusal(
            413,
            f"A request may have {limits.max_inputs:,} inputs, got {len(asked.inputs):,}; send "
            "several requests.",
        )
    check_wide("width", asked.width or 1, limits)
    check_wide("nbest", asked.nbest, limits)
    if asked.width is not None and asked.width < asked.nbest:
        raise Refusal(
            422,
            f"`width` must be at least `nbest`, {asked.nbest}, got {asked.width}; leave out "
            "`width`, or widen it.",
        )
    return asked


def check_wide(name: str, value: int, limits: Limits) -> None:
    """Refuse a beam that takes too long."""
    if value > limits.max_width:
        raise Refusal(422, f"`{name}` must be at most {limits.max_width}, got {value}; lower it.")


def sentence(error: ValidationError) -> str:
    """What is wrong with a request, in words."""
    # A misspelled key comes first, then what is wrong higher up.
    found = min(error.errors(), key=lambda one: (one["type"] != "extra_forbidden", len(one["loc"])))
    key = str(found["loc"][0]) if found["loc"] else ""
    if found["type"] == "extra_forbidden" and len(found["loc"]) == 1:
        return unknown(Prediction.model_fields, key, "field")
    if found["type"] in ("missing", "too_short") and key == "inputs" and len(found["loc"]) == 1:
        return "`inputs` must list what to answer, got none; give at least one."
    if key == "inputs" and len(found["loc"]) > 1:
        return (
            "`inputs` must be a list of texts, of lists of words, or of objects with `words` and "
            f"maybe `tags`, but number {int(found['loc'][1]) + 1} is none of these."
        )
    if not key:
        return f"The body must be a JSON object with `inputs`, got {quoted(found['input'])}."
    message = found["msg"].replace("Input should", "must", 1)
    return f"`{key}` {message}, got {quoted(found['input'])}."


def sent(given: str | list[str] | TaggedWords) -> Sent:
    """An input as tasks take it."""
    if isinstance(given, TaggedWords):
        return Words(given.words, given.tags)
    return given if isinstance(given, str) else Words(given)


def length_of(given: Sent) -> int:
    """How many characters an input has."""
    return len(given) if isinstance(given, str) else sum(len(word) + 1 for word in given.words)
