"""A progress bar for predictions: how many sentences, how fast, and how long it will take."""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any, final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..training.shown import Shown

SECONDS = 0.1
"""The least time between two numbers."""


@final
class PredictionDisplay(Shown):
    """A bar on a terminal, and nothing elsewhere; `total` is in bytes, where it is known."""

    def __init__(self, console: Console, total: int | None, done: int, shown: bool = True) -> None:
        left = [TimeRemainingColumn()] if total is not None else []
        columns = [TextColumn("predicting"), BarColumn(), TextColumn("{task.fields[state]}"), *left]
        hidden = not (shown and console.is_terminal)
        self.progress = Progress(*columns, console=console, transient=True, disable=hidden)
        self.bar = self.progress.add_task("", total=total, completed=done, state="")
        self.began, self.drawn, self.sentences = monotonic(), 0.0, 0

    @property
    def shown(self) -> bool:
        """Is there somebody to look at it?"""
        return not self.progress.disable

    def counting(self, items: Iterable[Any], _total: int, _title: str) -> Iterator[Any]:
        """The sentences of the window that is being answered, as they come."""
        for number, item in enumerate(items, 1):
            yield item
            self._show(self.sentences + number)

    def window(self, sentences: int, size: int) -> None:
        """Count a window that is answered."""
        self.sentences += sentences
        self.progress.advance(self.bar, size)
        self._show(self.sentences)

    def _show(self, sentences: int) -> None:
        now = monotonic()
        if self.shown and now - self.drawn >= SECONDS:
            self.drawn = now
            speed = sentences / max(1e-9, now - self.began)
            self.progress.update(self.bar, state=f"{sentences:,} sentences  {speed:,.0f}/s")
