"""What a ranker is made of, its files, and its experiments."""

from typing import ClassVar, Literal

from ...training.settings import Learning
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
