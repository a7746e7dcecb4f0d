"""Lines and progress bars on a console."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Item = TypeVar("Item")


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def with_progress(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """The items, with a progress bar on a terminal."""
    console = Console(stderr=True)
    return iter(
        track(
            items,
            title,
            total=total,
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )
