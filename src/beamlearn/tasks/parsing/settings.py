"""What a parser is made of, and its experiments."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ...training.settings import Learning
from ..settings import Count, Experiment, Files, Size, WordSettings

Cost = Literal["labeled", "unlabeled"]


class ParserSettings(WordSettings):
    """The model: how it builds trees, what it sees, and how large it is."""

    system: Literal["arc-hybrid", "arc-eager", "arc-standard", "covington"] = "arc-hybrid"
    """The transitions that build a tree."""
    crossing: Literal["auto", "encode", "lift", "keep"] = "auto"
    """Arcs that cross: lift and mark them so that they can be put back, lift them, or keep them.
    Auto: keep for covington, encode for the others."""
    mark_count: Size = 10
    """Marks of lifted words that are rarer in training are left out."""
    cost: Cost = "labeled"
    """Is a right head with a wrong relation an error?"""
    tags: Literal["none", "upos", "xpos"] = "none"
    """A column of tags that the parser sees; its input must have it."""
    tag_size: Size = 32
    """The size of a tag's vector."""
    word_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """The share of words that training takes for unknown ones."""
    max_characters: Count = 16
    """How many characters of a word the parser sees: of a longer word its first and last ones.
    0: none."""
    character_size: Size = 64
    """How many filters look at characters."""
    encoder: Literal["lstm", "convolution"] = "lstm"
    """What reads the sentence: an LSTM in both directions, or a lighter convolution."""
    encoder_size: Size = 200
    """Its size (of an LSTM, in each direction)."""
    encoder_layers: Size = 1
    """How many layers it has."""
    hidden_size: Size = 128
    """The size of the layer between words and actions."""
    history: Literal["lstm", "gru", "none"] = "lstm"
    """What reads the actions of each hypothesis."""
    history_size: Size = 128
    """The size of that memory."""
    action_size: Size = 64
    """The size of an action's vector in it."""

    free: ClassVar[frozenset[str]] = WordSettings.free | {"word_dropout", "cost"}

    @model_validator(mode="after")
    def _check_crossing(self) -> "ParserSettings":
        if self.system == "covington" and self.crossing not in ("auto", "keep"):
            raise ValueError(
                "`crossing` must be keep for the system covington, which builds crossing arcs "
                f"itself, got {self.crossing!r}; leave it out"
            )
        return self

    def resolved(self, learning: Learning) -> "ParserSettings":
        chosen = "keep" if self.keeps else "encode" if self.encodes else "lift"
        return super().resolved(learning).model_copy(update={"crossing": chosen})

    @property
    def keeps(self) -> bool:
        """Are crossing arcs learned as they are?"""
        return self.system == "covington" or self.crossing == "keep"

    @property
    def encodes(self) -> bool:
        """Are crossing arcs lifted and marked?"""
        return not self.keeps and self.crossing != "lift"


class ParsingExperiment(Experiment):
    """Everything that determines a run."""

    group: ClassVar[str] = "parser"
    task: Literal["parse"] = "parse"
    data: Files | None
    """None: the parser was fitted in memory."""
    parser: ParserSettings = ParserSettings()
