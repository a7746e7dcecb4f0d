"""Which processes answer."""

import os
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ..engines import open_engine
from ..training.settings import SettingsError

CLUSTER = 8
"""How many workers a cluster is thought to have, if nobody says."""


@dataclass(frozen=True)
class Workers:
    """So many processes of an engine; by default this process alone."""

    number: int | None = None
    engine: str | None = None

    @property
    def several(self) -> bool:
        """Is it not this process?"""
        return self.engine is not None or (self.number or 1) > 1

    @property
    def count(self) -> int:
        """How many there are."""
        local = (self.engine or "processes") == "processes"
        return self.number or ((os.cpu_count() or 1) if local else CLUSTER)

    def open(self) -> AbstractContextManager[Executor]:
        """Begin them."""
        return open_engine(self.engine or "processes", self.number)

    def check_threads(self, threads: int) -> None:
        """Refuse more threads than the workers have."""
        if self.several and threads != 1:
            raise SettingsError(
                f"`threads` must be 1 with `workers`, each of which has one, got {threads}; leave "
                "it out."
            )
