"""Settings that every task has: its files, its model, and the experiment of both."""

from collections.abc import Mapping
from operator import index
from typing import Annotated, Any, ClassVar, Literal, SupportsIndex, TypeVar

from pydantic import BeforeValidator, Field

from ..check import quoted
from ..training.settings import Learning, Settings

Size = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Model = TypeVar("Model", bound="ModelSettings")


def read_lookahead(value: object) -> object:
    """Accept a number of words, or all."""
    if value == "all":
        return value
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, SupportsIndex) or isinstance(number, bool) or index(number) < 0:
        raise ValueError(f"must be a whole number of at least 0, or all, got {quoted(value)}")
    return index(number)


Lookahead = Annotated[int | Literal["all"], BeforeValidator(read_lookahead)]
"""How many words to come may be seen: a number, or all of them."""
Same = TypeVar("Same", bound="Experiment")


class Files(Settings):
    """Where the data is; a task adds how to read it."""

    train: str
    """Training file, plain or .gz."""
    dev: str | None = None
    """Validation file. (default: every tenth training sentence is held out)"""
    limit: int | None = Field(default=None, ge=1)
    """Number of training sentences to use, from the start of the file. (default: all)"""
    cache: Literal["auto", "always", "never"] = "auto"
    """Whether to keep training data in files beside the run. Auto: if its file is large."""


Tokenizer = Literal["auto", "blanks", "words", "characters"]
"""How plain text is split into words."""


class TextFiles(Files):
    """Where sentences of words are."""

    tokenizer: Tokenizer = "auto"
    """How predict splits plain text: at blanks, into words and punctuation marks, or into
    characters. Auto: characters if every word of the training data is one, else words."""


class ModelSettings(Settings):
    """What a model is made of; a task adds what it sees, and how large it is."""

    free: ClassVar[frozenset[str]] = frozenset({"dropout", "accumulate", "normalize"})
    """What a warm start may change, as the shapes of the weights do not depend on it."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.3
    """Dropout rate: the share of inputs that training leaves out."""
    accumulate: bool = True
    """Score a hypothesis by the sum along its path, not by its last action alone."""
    normalize: Literal["auto", "log_softmax", "none"] = "auto"
    """Whether to turn scores into log-probabilities of the next action. Auto: log_softmax if each
    action is learned by itself, as with log_likelihood and dagger, if beams are sampled, and with
    joint where the model sees all of the input; else none."""

    @property
    def normalization(self) -> Literal["log_softmax"] | None:
        """`normalize` as a scorer takes it."""
        return "log_softmax" if self.normalize == "log_softmax" else None

    @property
    def sees_all(self) -> bool:
        """Does a model see all of the input before its first decision?"""
        return True

    @property
    def rolls_out(self) -> bool:
        """Is the cost only known for whole outputs, so that others are estimated by roll-outs?"""
        return False

    @property
    def pretrained(self) -> bool:
        """Do the first weights come from elsewhere, with the shape of the model?"""
        return False

    def resolved(self: Model, learning: Learning) -> Model:
        """The same with `auto` decided."""
        if self.normalize != "auto":
            return self
        joint = learning.weights is not None and self.sees_all
        likely = learning.local or learning.samples or joint
        chosen = "log_softmax" if likely else "none"
        return self.model_copy(update={"normalize": chosen})


class WordSettings(ModelSettings):
    """What a model knows of words, and how large its vectors are."""

    min_count: Size = 2
    """Minimum number of times a word must occur in training to get a vector of its own."""
    word_size: Size = 96
    """Size of word vectors."""
    affix_length: Count = 4
    """Maximum length of prefixes and suffixes, in characters. 0: none."""
    affix_size: Size = 96
    """Size of the vectors of prefixes, suffixes and word shapes."""
    vectors: str | None = None
    """File of pretrained word vectors: text, .npy or .safetensors. (default: none)"""
    freeze_vectors: bool = True
    """Keep pretrained vectors fixed during training."""


class Experiment(Settings):
    """Everything that a run is determined by.

    A task narrows `task` and `data`, and adds the group of its model's settings.
    """

    group: ClassVar[str]
    """The name of that group, which is also what the model is called."""
    task: str
    data: Files | None
    """None: the model was fitted in memory."""
    learning: Learning = Field(default_factory=Learning)
    warm_start: str | None = None
    """A run folder to take the initial weights from."""

    @classmethod
    def upgraded(cls, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """The settings in a run folder of an earlier version, in today's terms."""
        return config

    @property
    def settings(self) -> ModelSettings:
        """What the model is made of."""
        settings: ModelSettings = getattr(self, self.group)
        return settings

    @property
    def warm(self) -> bool:
        """Do the first weights come from another training? They are then validated, too."""
        return self.warm_start is not None or self.settings.pretrained

    def changed(self, wanted: "Experiment", folder: object) -> str | None:
        """How this one, which began in a folder, is not what is wanted; None: `auto` apart, it is.

        The beginning of a sentence about the first setting that differs.
        """
        now = wanted._flat()
        for name, kept in self._flat().items():
            if now.get(name) not in (kept, "auto"):
                was = "not given" if kept is None else repr(kept)
                return (
                    f"`{name}` was {was} when the training in {folder} began, got {now.get(name)!r}"
                )
        return None

    def _flat(self) -> dict[str, Any]:
        """All settings by their names alone, which are different in every group."""
        found: dict[str, Any] = {"task": self.task, "warm_start": self.warm_start}
        for group in (self.data, self.settings, self.learning):
            found |= {} if group is None else group.model_dump()
        found.pop("cache", None)  # nothing that is learned depends on it
        return found

    def with_settings(self: Same, settings: ModelSettings) -> Same:
        """The same experiment with another model."""
        return self.model_copy(update={self.group: settings})

    def resolved(self: Same) -> Same:
        """The same with everything decided that was left to be found out.

        A warm start decides it by the model that it starts from.
        """
        if self.warm_start is not None:
            return self
        return self.with_settings(self.settings.resolved(self.learning)).decided()

    def left_open(self: Same) -> Same:
        """The same with everything left open that `resolved` finds out again."""
        learning, settings = self.learning, self.settings
        fields = type(settings).model_fields
        for name in reversed([name for name, field in fields.items() if field.default == "auto"]):
            automatic = settings.model_copy(update={name: "auto"})
            if automatic.resolved(learning) == settings.resolved(learning):
                settings = automatic
        for name in ("beam_weight", "beam_start", "learning_rate", "roll_out"):
            bare = learning.model_copy(update={name: None})
            if self._decide(bare) == self.learning:
                learning = bare
        return self.with_settings(settings).model_copy(update={"learning": learning})

    def decided(self: Same) -> Same:
        """The same with the part of the beam's loss and the learning rate decided by the model."""
        return self.model_copy(update={"learning": self._decide(self.learning)})

    def _decide(self, learning: Learning) -> Learning:
        """How to learn, with what was left open decided for this model."""
        return learning.decided(
            sees_all=self.settings.sees_all,
            warm=self.warm_start is not None,
            fine_tuning=self.settings.pretrained,
            rolls_out=self.settings.rolls_out,
        )
