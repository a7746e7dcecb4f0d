"""What a tagger is made of, its files, and its experiments."""

from typing import ClassVar, Literal

from pydantic import model_validator

from ..settings import Count, Experiment, Files, Size, WordSettings

Layout = Literal["auto", "conllu", "columns"]


class TaggerSettings(WordSettings):
    """The model: what it sees, and how large it is."""

    model: Literal["neural", "linear"] = "neural"
    """Kind of model: a neural network, or a linear model with hashed features."""
    context: Literal["streaming", "sentence"] = "sentence"
    """What the tagger sees: the whole sentence, or only the current word and its own tags so far
    (streaming)."""
    lookahead: Count = 0
    """Number of following words that a streaming tagger sees."""
    constrained: bool = False
    """Rule out tags that break the BIO scheme."""
    encoder_size: Size = 128
    """Size of the sentence encoder, in each direction."""
    encoder_layers: Size = 1
    """Number of layers of the sentence encoder."""
    history: Literal["lstm", "gru"] = "lstm"
    """Recurrent network that reads the tags of each hypothesis."""
    history_size: Size = 128
    """Size of the recurrent network that reads the tags."""
    tag_size: Size = 64
    """Size of tag vectors."""
    buckets: Size = 1 << 20
    """Number of weights of a linear model."""

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
    """Training file: CoNLL-U or columns, plain or .gz."""
    column: str = "upos"
    """Column with the tags: upos, xpos, feats, supertag or a column number."""
    layout: Layout = "auto"
    """Format of the files. Auto: detect it."""


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
