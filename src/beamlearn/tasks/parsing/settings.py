"""What a parser is made of, and its experiments."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ...training.settings import Learning
from ..settings import Count, Experiment, Lookahead, Size, TextFiles, WordSettings

Cost = Literal["labeled", "unlabeled"]


class ParserSettings(WordSettings):
    """The model: how it builds trees, what it sees, and how large it is."""

    system: Literal["arc-hybrid", "arc-eager", "arc-standard", "covington"] = "arc-hybrid"
    """Transition system that builds the trees."""
    crossing: Literal["auto", "encode", "lift", "keep"] = "auto"
    """How to learn crossing arcs: lift and mark them so that they can be restored (encode), lift
    them, or keep them. Auto: keep for covington, encode for the others."""
    mark_count: Size = 10
    """Minimum number of times a mark of a lifted word must occur in training to be learned."""
    cost: Cost = "labeled"
    """What counts as an error: a wrong head or relation (labeled), or only a wrong head."""
    tags: Literal["none", "upos", "xpos"] = "none"
    """Column of tags that the parser sees. Files to parse must have it too."""
    tag_size: Size = 32
    """Size of tag vectors."""
    word_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of words that training replaces by the unknown word."""
    max_characters: Count = 16
    """Number of characters of a word that the parser sees; of longer words, the first and the last
    ones. 0: none."""
    character_size: Size = 64
    """Number of filters over characters."""
    encoder: Literal["lstm", "convolution"] = "lstm"
    """Sentence encoder: an LSTM in both directions, or a lighter convolution."""
    lookahead: Lookahead = "all"
    """Number of words after the next one that the parser sees, or all. With a number it can work
    as the words come."""
    encoder_size: Size = 200
    """Size of the sentence encoder; of an LSTM, in each direction."""
    encoder_layers: Size = 1
    """Number of layers of the sentence encoder."""
    hidden_size: Size = 128
    """Size of the layer between words and actions."""
    history: Literal["lstm", "gru", "none"] = "lstm"
    """Recurrent network that reads the actions of each hypothesis."""
    history_size: Size = 128
    """Size of the recurrent network that reads the actions."""
    action_size: Size = 64
    """Size of action vectors."""

    free: ClassVar[frozenset[str]] = WordSettings.free | {"word_dropout", "cost"}

    @model_validator(mode="after")
    def _check_crossing(self) -> "ParserSettings":
        if self.system == "covington" and self.crossing not in ("auto", "keep"):
            raise ValueError(
                "`crossing` must be keep for the system covington, which builds crossing arcs "
                f"itself, got {self.crossing!r}; leave it out"
            )
        return self

    @property
    def sees_all(self) -> bool:
        return self.lookahead == "all"

    @model_validator(mode="after")
    def _check_lookahead(self) -> "ParserSettings":
        if self.lookahead != "all" and self.encoder == "convolution":
            raise ValueError(
                "`lookahead` must be all for `encoder` = convolution, which looks to both sides, "
                f"got {self.lookahead}; leave it out, or set `encoder` to lstm"
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
    data: TextFiles | None
    """None: the parser was fitted in memory."""
    parser: ParserSettings = ParserSettings()
