"""The experiment of a transducer: its data, what it is made of, and how it learns."""

from typing import ClassVar, Literal

from ...data.pairs import Allowed
from .. import settings
from .pairs import DataSettings
from .settings import TransducerSettings


class Experiment(settings.Experiment):
    """Everything that a run is determined by."""

    group: ClassVar[str] = "transducer"
    task: Literal["transduce"] = "transduce"
    data: DataSettings | None
    """None: the transducer was fitted in memory."""
    transducer: TransducerSettings = TransducerSettings()

    @property
    def references(self) -> Allowed:
        """How many references a line of its files may have."""
        return "one" if self.data is None else self.data.references
