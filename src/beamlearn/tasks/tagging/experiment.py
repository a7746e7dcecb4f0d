"""The experiment of a tagger: its data, what it is made of, and how it learns."""

from typing import ClassVar, Literal

from .. import settings
from .sentences import DataSettings, Layout
from .settings import TaggerSettings


class Experiment(settings.Experiment):
    """Everything that a run is determined by."""

    group: ClassVar[str] = "tagger"
    task: Literal["tag"] = "tag"
    data: DataSettings | None
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
