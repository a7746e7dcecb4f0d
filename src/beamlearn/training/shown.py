"""What is shown on a console while something else goes on."""

from abc import ABC
from types import TracebackType
from typing import TypeVar

from rich.progress import Progress

Same = TypeVar("Same", bound="Shown")


class Shown(ABC):
    """Bars that are there as long as the block that they are opened for."""

    progress: Progress

    def __enter__(self: Same) -> Same:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()
