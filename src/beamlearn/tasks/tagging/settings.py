"""What a tagger is made of, its files, and its experiments."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from ...training.settings import Learning
from ..settings import Experiment, Size, TextFiles, WordSettings, read_lookahead

Layout = Literal["auto", "conllu", "columns"]
COLUMNS = ("upos", "xpos", "feats", "supertag")
"""The columns of CoNLL-U that have names and hold tags."""


def read_automatic(value: object) -> object:
    """Accept a number of words, all, or auto."""
    return value if value == "auto" else read_lookahead(value)


class TaggerSettings(WordSettings):
    """The model: what it sees, and how large it is."""

    model: Literal["neural", "linear"] = "neural"
    """Kind of model: a neural network, or a linear model with hashed features."""
    context: Literal["auto", "streaming", "sentence"] = "auto"
    """What the tagger sees: the whole sentence, or only the current word, its own tags so far and
    the lookahead (streaming). Auto: the sentence, unless the lookahead is a number."""
    lookahead: Annotated[int | Literal["all", "auto"], BeforeValidator(read_automatic)] = "auto"
    """Number of words to come that the tagger sees, or all. Auto: 0 if it is streaming, else
    all."""
    encoder: Literal["window", "lstm"] = "window"
    """What a streaming tagger reads beside its tags: the current word and those to come, or with
    an LSTM all words up to there."""
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
        if self.context == "sentence" and isinstance(self.lookahead, int):
            raise ValueError(
                "`lookahead` must be all with `context` = sentence, which sees all words, got "
                f"{self.lookahead}; leave one of them out"
            )
        if self.context == "streaming" and self.lookahead == "all":
            raise ValueError(
                "`lookahead` must be a number of words with `context` = streaming, got all; leave "
                "one of them out"
            )
        if self.encoder == "lstm" and self.model == "linear":
            raise ValueError(
                "`encoder` = lstm is only for `model` = neural, got linear; leave one of them out"
            )
        if self.vectors is not None and self.model == "linear":
            raise ValueError(
                "`vectors` are only for `model` = neural, got linear; leave one of them out"
            )
        return self

    @property
    def ahead(self) -> int | None:
        """The number of words to come that are seen; None: all."""
        if self.context == "sentence" or self.lookahead == "all":
            return None
        if isinstance(self.lookahead, int):
            return self.lookahead
        return 0 if self.context == "streaming" else None

    @property
    def sees_all(self) -> bool:
        return self.ahead is None

    def resolved(self, learning: Learning) -> "TaggerSettings":
        whole = self.ahead is None
        chosen = {
            "context": "sentence" if whole else "streaming",
            "lookahead": "all" if whole else self.ahead,
        }
        return super().resolved(learning).model_copy(update=chosen)


class TaggingFiles(TextFiles):
    """Where the sentences are, and their tags in them."""

    train: str
    """Training file: CoNLL-U or columns, plain or .gz."""
    column: str = Field(default="upos", examples=list(COLUMNS))
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

    @classmethod
    def upgraded(cls, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """Once, 0 was the lookahead of a tagger that sees the sentence, where it means nothing."""
        tagger = config.get(cls.group)
        if not isinstance(tagger, Mapping) or tagger.get("context") != "sentence":
            return config
        if tagger.get("lookahead") != 0:
            return config
        return {**config, cls.group: {**tagger, "lookahead": "all"}}

    @property
    def column(self) -> str:
        """The column that is learned and predicted."""
        return "upos" if self.data is None else self.data.column

    @property
    def layout(self) -> Layout:
        """What its files look like."""
        return "auto" if self.data is None else self.data.layout
