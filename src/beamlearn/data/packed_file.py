"""A file that may be larger than memory, packed into a folder."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .kept import kept
from .packed import PackedLists, Packing
from .text import DataError

Lists = Sequence[Sequence[str]]
"""A list for each example; a string is the list of its characters."""


def packed_file(
    path: str,
    cache: Path,
    made_with: Mapping[str, Any],
    names: Sequence[str],
    windows: Iterable[Sequence[Lists]],
    unit: str,
) -> list[PackedLists]:
    """The lists under each of some names, which `windows` finds in the file part by part.

    They are not asked for if `cache` has what the file says from before. An example is a `unit` in
    messages.
    """

    def fill(folder: Path) -> None:
        with ExitStack() as stack:
            packings = [stack.enter_context(Packing(folder, name)) for name in names]
            for window in windows:
                for packing, lists in zip(packings, window, strict=True):
                    packing.add(lists)
        if not packings[0].ends:
            raise nothing_in(path, unit)

    folder = kept(cache, path, made_with, fill)
    return [PackedLists.open(folder, name) for name in names]


def nothing_in(path: str, unit: str) -> DataError:
    """The error for a file without examples."""
    return DataError(f"{path}: The file must have at least one {unit}, got none.")
