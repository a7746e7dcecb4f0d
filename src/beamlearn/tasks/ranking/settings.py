"""What a ranker is made of, its files, and its experiments."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...training.choices import ROW_NAMES
from ...training.settings import Learning, algorithm_field, one_of
from ..settings import Experiment, Files, ModelSettings, Size


class RankerSettings(ModelSettings):
    """The model: how large it is."""

    normalize: Literal["auto", "log_softmax", "none"] = "auto"
    """Whether to turn scores into log-probabilities of the next token. Auto: log_softmax."""
    size: Size = 128
    """Size of vectors and states."""
    layers: Size = 1
    """Number of layers of the encoder."""

    def resolved(self, learning: Learning) -> "RankerSettings":
        if self.normalize != "auto":
            return self
        return self.model_copy(update={"normalize": "log_softmax"})


class RankingLearning(Learning):
    """How to learn: by likelihood, unless another algorithm is chosen."""

    default_algorithm: ClassVar[str] = "log_likelihood"
    algorithm: Annotated[str, one_of(ROW_NAMES, "algorithm")] = algorithm_field("log_likelihood")
    epochs: Size = 8
    """Number of passes over the training data."""
    batch_size: Size = 64
    """Number of users per update."""


class RankingFiles(Files):
    """Where the users and the items are."""

    train: str
    """JSON file, plain or .gz, with a list of items for each user, oldest first. The last item is
    left for the test, and the last but one for validation."""
    ids: str
    """JSON file, plain or .gz, with the tokens of the id of each item."""
    dev: str | None = None
    """JSON file of other users to validate on, by their last items. (default: the last but one
    item of each training user)"""
    limit: Size | None = None
    """Number of users to use, from the start of the file. (default: all)"""


class RankingExperiment(Experiment):
    """Everything that determines a run."""

    group: ClassVar[str] = "ranker"
    task: Literal["rank"] = "rank"
    data: RankingFiles | None
    ranker: RankerSettings = RankerSettings()
    learning: RankingLearning = Field(default_factory=RankingLearning)
