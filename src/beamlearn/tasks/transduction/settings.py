"""What a transducer is made of, its files, and its experiments."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ...data.pairs import Allowed
from ...training.settings import Learning
from ..settings import Count, Experiment, Files, ModelSettings, Size
from .tokens import TokensName

Weight = Annotated[float, Field(ge=0)]


class TransducerSettings(ModelSettings):
    """The model: what it reads and writes, how large it is, and which cost it learns."""

    normalize: Literal["auto", "log_softmax", "none"] = "auto"
    """Turn scores into log-probabilities of the next token? Auto: yes."""
    source_tokens: TokensName = "characters"
    """What sources are cut into: characters, words, or the .model or .json file of subwords."""
    target_tokens: TokensName = "characters"
    """What targets are cut into: characters, words, or the .model or .json file of subwords."""
    source_min_count: Size = 1
    """Rarer source symbols share one vector."""
    target_min_count: Size = 1
    """Rarer target tokens are never written."""
    model: Literal["lstm", "transformer"] = "lstm"
    """What reads the source and writes the target."""
    size: Size = 128
    """The size of vectors and states."""
    layers: Size = 1
    """How many layers read, and how many write."""
    heads: Size = 4
    """How many heads the attention of a transformer has."""
    feedforward: Size = 512
    """The size of the inner layers of a transformer."""
    cost: Literal["edit", "hamming", "bleu", "chrf"] = "edit"
    """The cost to minimize: an edit distance, wrong positions, 1 - BLEU or 1 - chrF."""
    insertion: Weight = 1.0
    """What a token too many costs in the edit distance."""
    deletion: Weight = 1.0
    """What a missing token costs in the edit distance."""
    substitution: Weight = 1.0
    """What a wrong token costs in the edit distance."""
    length_factor: Weight = 2.0
    """An output has at most length_factor * source length + length_extra tokens."""
    length_extra: Count = 10
    """An output has at most length_factor * source length + length_extra tokens."""
    finish: Literal["pad", "first"] = "pad"
    """Search until all outputs in the beam have ended, or until the best one has (first)?"""
    length_power: Weight = 0.0
    """Divide the score of an output by its length to this power; 0: leave it."""
    length_bonus: float = 0.0
    """What every token adds to the score of an output."""

    free: ClassVar[frozenset[str]] = ModelSettings.free | {
        "cost",
        "insertion",
        "deletion",
        "substitution",
        "length_factor",
        "length_extra",
        "finish",
        "length_power",
        "length_bonus",
    }

    @model_validator(mode="after")
    def _check_weights(self) -> "TransducerSettings":
        for name in ("insertion", "deletion", "substitution"):
            weight = getattr(self, name)
            if weight != 1 and self.cost != "edit":
                raise ValueError(
                    f"`{name}` is only for `cost` = edit, got cost = {self.cost}; leave out "
                    f"{name} = {weight}, or choose edit"
                )
        if self.insertion == self.deletion == 0:
            raise ValueError(
                "`insertion` or `deletion` must be above 0, as otherwise every output is right, "
                "got 0 for both; raise one of them"
            )
        return self

    @model_validator(mode="after")
    def _check_length(self) -> "TransducerSettings":
        if self.length_factor == self.length_extra == 0:
            raise ValueError(
                "`length_factor` or `length_extra` must be above 0, as otherwise every output is "
                "empty, got 0 for both; raise one of them"
            )
        return self

    @model_validator(mode="after")
    def _check_heads(self) -> "TransducerSettings":
        if self.model == "transformer" and self.size % self.heads:
            fits = [n for n in range(1, min(self.heads, self.size) + 1) if self.size % n == 0]
            raise ValueError(
                f"`heads` must divide `size`, got size = {self.size} and heads = {self.heads}; "
                f"choose heads = {fits[-1]}, or another size"
            )
        return self

    def resolved(self, learning: Learning) -> "TransducerSettings":
        if self.normalize != "auto":
            return self
        return self.model_copy(update={"normalize": "log_softmax"})


class TransductionFiles(Files):
    """Where the pairs are, and how many references a line has."""

    train: str
    """The file to learn from, plain or .gz: source, tab and target on each line."""
    dev: str | None = None
    """The file to validate on; without one, every tenth pair is held out."""
    limit: Size | None = None
    """Use only the first N pairs of the training file."""
    references: Allowed = "one"
    """May a line have several right targets, each in a column of its own?"""


class TransductionExperiment(Experiment):
    """Everything that determines a run."""

    group: ClassVar[str] = "transducer"
    task: Literal["transduce"] = "transduce"
    data: TransductionFiles | None
    """None: the transducer was fitted in memory."""
    transducer: TransducerSettings = TransducerSettings()

    @property
    def references(self) -> Allowed:
        """How many references a line of its files may have."""
        return "one" if self.data is None else self.data.references
