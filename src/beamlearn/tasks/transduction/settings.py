"""What a transducer is made of, its files, and its experiments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from ...check import check_choice
from ...data.pairs import Allowed
from ...training.settings import Learning
from ..settings import Count, Experiment, Files, ModelSettings, Size
from .cost_names import COSTS, PREFIX, ROLLED_OUT
from .tokens import TokensName

OF_TRANSFORMERS = ("heads", "feedforward")
"""Settings that another network does not have."""
OF_OWN_NETWORKS = (
    *("source_tokens", "target_tokens", "source_min_count", "target_min_count"),
    *("model", "size", "layers", "heads", "feedforward", "dropout"),
)
"""Settings that a pretrained model decides by itself."""
Folder = Annotated[str, AfterValidator(lambda path: str(Path(path).absolute()))]
Weight = Annotated[float, Field(ge=0)]


def _cost(name: str) -> str:
    """Refuse names of no cost; a function of one's own is looked for when it is needed."""
    if not name.startswith(PREFIX):
        check_choice(name, COSTS, "cost")
    elif ":" not in (metric := name.removeprefix(PREFIX)):
        check_choice(metric, ROLLED_OUT, "cost of roll-outs")
    return name


class TransducerSettings(ModelSettings):
    """The model: what it reads and writes, how large it is, and which cost it learns."""

    normalize: Literal["auto", "log_softmax", "none"] = "auto"
    """Whether to turn scores into log-probabilities of the next token. Auto: log_softmax."""
    source_tokens: TokensName = "characters"
    """Tokens of the sources: characters, words, or a subword model (FILE.model or FILE.json)."""
    target_tokens: TokensName = "characters"
    """Tokens of the targets: characters, words, or a subword model (FILE.model or FILE.json)."""
    source_min_count: Size = 1
    """Minimum number of times a source token must occur in training to get a vector of its own."""
    target_min_count: Size = 1
    """Minimum number of times a target token must occur in training to be written."""
    hf: Folder | None = None
    """Folder of a Hugging Face model, with its tokenizer, to fine-tune. (default: a new network)"""
    model: Literal["lstm", "transformer"] = "lstm"
    """Kind of network."""
    size: Size = 128
    """Size of vectors and states."""
    layers: Size = 1
    """Number of layers of the encoder, and of the decoder."""
    heads: Size = 4
    """Number of attention heads of a transformer."""
    feedforward: Size = 512
    """Size of the feedforward layers of a transformer."""
    cost: Annotated[str, AfterValidator(_cost)] = Field(
        default="edit",
        description="Cost to minimize: edit (distance), hamming (wrong positions), exact (wrong "
        "outputs), bleu (1 - BLEU) or chrf (1 - chrF). For any metric of whole outputs, by "
        f"roll-outs: {', '.join(PREFIX + name for name in ROLLED_OUT)}, or "
        f"{PREFIX}MODULE:FUNCTION, a function of an output and a reference.",
    )
    insertion: Weight = 1.0
    """Cost of an extra token in the edit distance."""
    deletion: Weight = 1.0
    """Cost of a missing token in the edit distance."""
    substitution: Weight = 1.0
    """Cost of a wrong token in the edit distance."""
    length_factor: Weight = 2.0
    """Maximum output length in tokens: this times the length of the source, plus length_extra."""
    length_extra: Count = 10
    """Number of tokens added to the maximum output length; see length_factor."""
    finish: Literal["pad", "first"] = "pad"
    """When a search ends: all outputs in the beam have ended (pad), or the best one has (first)."""
    length_power: Weight = 0.0
    """Power of the length by which the score of an output is divided. 0: not divided."""
    length_bonus: float = 0.0
    """Number added to the score of an output for every token."""

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
    def _check_pretrained(self) -> "TransducerSettings":
        for name in OF_OWN_NETWORKS if self.pretrained else ():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(
                    f"`{name}` is for new networks, but `hf` names a model that has its own; leave "
                    f"out `{name}`, or leave out `hf`"
                )
        return self

    @model_validator(mode="after")
    def _check_heads(self) -> "TransducerSettings":
        for name in OF_TRANSFORMERS if self.model != "transformer" else ():
            if (value := getattr(self, name)) != type(self).model_fields[name].default:
                raise ValueError(
                    f"`{name}` is only for `model` = transformer, got model = {self.model}; leave "
                    f"out {name} = {value}, or choose transformer"
                )
        if self.model == "transformer" and self.size % self.heads:
            fits = [n for n in range(1, min(self.heads, self.size) + 1) if self.size % n == 0]
            raise ValueError(
                f"`heads` must divide `size`, got size = {self.size} and heads = {self.heads}; "
                f"choose `heads` = {fits[-1]}, or another size"
            )
        return self

    @property
    def pretrained(self) -> bool:
        return self.hf is not None

    @property
    def rolls_out(self) -> bool:
        return self.cost.startswith(PREFIX)

    def resolved(self, learning: Learning) -> "TransducerSettings":
        if self.normalize != "auto":
            return self
        return self.model_copy(update={"normalize": "log_softmax"})


class TransductionFiles(Files):
    """Where the pairs are, and how many references a line has."""

    train: str
    """Training file, plain or .gz, with source, tab and target on each line."""
    dev: str | None = None
    """Validation file. (default: every tenth training pair is held out)"""
    limit: Size | None = None
    """Number of training pairs to use, from the start of the file. (default: all)"""
    references: Allowed = "one"
    """Number of right targets on a line: one, or several in columns of their own."""


class TransductionExperiment(Experiment):
    """Everything that determines a run."""

    group: ClassVar[str] = "transducer"
    task: Literal["transduce"] = "transduce"
    data: TransductionFiles | None
    """None: the transducer was fitted in memory."""
    transducer: TransducerSettings = TransducerSettings()

    @classmethod
    def upgraded(cls, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """Once, an LSTM could have the settings of a transformer, which meant nothing."""
        transducer = config.get(cls.group)
        if not isinstance(transducer, Mapping) or transducer.get("model") == "transformer":
            return config
        kept = {name: value for name, value in transducer.items() if name not in OF_TRANSFORMERS}
        return {**config, cls.group: kept}

    @property
    def references(self) -> Allowed:
        """How many references a line of its files may have."""
        return "one" if self.data is None else self.data.references
