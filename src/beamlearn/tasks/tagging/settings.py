"""What a tagger is made of, its files, and its experiments."""

from typing import ClassVar, Literal

from pydantic import model_validator

from ..settings import Count, Experiment, Files, Size, WordSettings

Layout = Literal["auto", "conllu", "columns"]


class TaggerSettings(WordSettings):
    """The model: what it sees, and how large it is."""

    model: Literal["neural", "linear"] = "neural"
    """A network, or a linear model with hashed features."""
    context: Literal["streaming", "sentence"] = "sentence"
    """May it look ahead? Streaming sees the current word and its own tags."""
    lookahead: Count = 0
    """How many words a streaming tagger may look ahead."""
    constrained: bool = False
    """Rule out tags that break the BIO scheme?"""
    encoder_size: Size = 128
    """The size of what reads a sentence, in each direction."""
    encoder_layers: Size = 1
    """How many layers read the sentence."""
    history: Literal["lstm", "gru"] = "lstm"
    """What reads the tags of each hypothesis."""
    history_size: Size = 128
    """The size of that memory."""
    tag_size: Size = 64
    """The size of a tag's vector in it."""
    buckets: Size = 1 << 20
    """How many weights a linear model has."""

    @model_validator(mode="after")
    def _check_effect(self) -> "TaggerSettings":
        if self.lookahead and self.context == "sentence":
            raise ValueError(
                "`lookahead` must be 0 with `context` = sentence, which sees all words, got "
                f"{self.lookahead}; leave it out, or set `context` to streaming"
            )
        if self.vectors is not None and self.model == "linear":
            raise ValueError(
                "`vectors` are only for `model` = neural, got linear; leave one of them out"
            )
        return self


class TaggingFiles(Files):
    """Where the sentences are, and their tags in them."""

    train: str
    """The file to learn from: CoNLL-U or columns, plain or .gz."""
    column: str = "upos"
    """The labels: upos, xpos, feats, supertag or the number of a column."""
    layout: Layout = "auto"
    """What the files look like."""


class TaggingExperiment(Experiment):
    """Everything that determines a run."""

    group: ClassVar[str] = "tagger"
    task: Literal["tag"] = "tag"
    data: TaggingFiles | None
    """None: the tagger was fitted in memory."""
    tagger: TaggerSettings = TaggerSettings()

    @property
    def column(self) -> str:
        """The column that is learned and predicted."""
        return "upos" if self.data is None else self.data.column

    @property
    def layout(self) -> Layout:
        """What its files look like."""
        return "auto" if self.data is None else self.data.layout
