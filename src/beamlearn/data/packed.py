"""Lists of strings in files: every string once, and numbers that are mapped into memory.

NAME.strings has the different strings as JSON, in the order in which they were found, NAME.numbers
the strings of all lists one after another by their numbers, and NAME.ends where each list ends.
"""

import json
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar, final, overload

import numpy as np
from jaxtyping import Int

from .atomic import needing_space

NUMBER, PLACE = np.int32, np.int64
"""The types of numbers of strings and of places."""


Item = TypeVar("Item")


class Packed(Sequence[Item]):
    """Items that are made from files when they are asked for."""

    @abstractmethod
    def item(self, place: int) -> Item:
        """The one at a place."""

    @abstractmethod
    def take(self, places: Sequence[int]) -> "Packed[Item]":
        """The items at these places."""

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> "Packed[Item]": ...
    def __getitem__(self, place: int | slice) -> "Item | Packed[Item]":
        if isinstance(place, slice):
            return self.take(range(len(self))[place])
        return self.item(place)


def taken(items: Sequence[Item], places: Sequence[int]) -> Sequence[Item]:
    """Some of the items; packed ones stay packed."""
    return items.take(places) if isinstance(items, Packed) else [items[i] for i in places]


@final
class PackedLists(Packed[list[str]]):
    """Lists of strings."""

    def __init__(
        self,
        strings: Sequence[str],
        numbers: Int[np.ndarray, " items"],
        bounds: Int[np.ndarray, " bounds"],
        places: Int[np.ndarray, " chosen"] | None = None,
    ) -> None:
        self.strings, self.numbers, self.bounds = strings, numbers, bounds
        self.places = np.arange(len(bounds) - 1) if places is None else places

    @classmethod
    def open(cls, folder: Path, name: str) -> "PackedLists":
        """Those that `Packing` wrote."""
        strings = json.loads((folder / f"{name}.strings").read_bytes())
        ends = np.fromfile(folder / f"{name}.ends", dtype=PLACE)
        bounds = np.concatenate([np.zeros(1, dtype=PLACE), ends])
        return cls(strings, mapped(folder / f"{name}.numbers"), bounds)

    def __len__(self) -> int:
        return len(self.places)

    def item(self, place: int) -> list[str]:
        row = self.places[place]
        numbers = self.numbers[self.bounds[row] : self.bounds[row + 1]]
        return [self.strings[number] for number in numbers.tolist()]

    def take(self, places: Sequence[int]) -> "PackedLists":
        chosen = self.places[np.asarray(places, dtype=np.int64)]
        return PackedLists(self.strings, self.numbers, self.bounds, chosen)

    @property
    def lengths(self) -> Int[np.ndarray, " chosen"]:
        """How long each list is."""
        found: Int[np.ndarray, " chosen"] = np.diff(self.bounds)[self.places]
        return found


@final
class PackedItems(Packed[Item]):
    """Items that `make` makes from the lists at their place."""

    def __init__(self, make: Callable[..., Item], *lists: PackedLists) -> None:
        self.make, self.lists = make, lists

    def __len__(self) -> int:
        return len(self.lists[0])

    def item(self, place: int) -> Item:
        return self.make(*(one[place] for one in self.lists))

    def take(self, places: Sequence[int]) -> "PackedItems[Item]":
        return PackedItems(self.make, *(one.take(places) for one in self.lists))


def mapped(path: Path) -> Int[np.ndarray, " items"]:
    """Numbers of strings in a file, which may be empty."""
    if not path.stat().st_size:
        return np.zeros(0, dtype=NUMBER)
    return np.memmap(path, dtype=NUMBER, mode="r")


@final
class Packing:
    """Writes lists to files, in a folder that exists."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.file = (folder / f"{name}.numbers").open("xb")
        self.known: dict[str, int] = {}
        self.ends, self.end = array("q"), 0

    def __enter__(self) -> "Packing":
        return self

    def add(self, lists: Iterable[Sequence[str]]) -> None:
        """Append some lists."""
        numbers = array("i", self._numbers(lists))
        with needing_space(self.folder):
            numbers.tofile(self.file)

    def _numbers(self, lists: Iterable[Sequence[str]]) -> Iterator[int]:
        known = self.known
        for strings in lists:
            for string in strings:
                yield known.setdefault(string, len(known))
            self.end += len(strings)
            self.ends.append(self.end)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with needing_space(self.folder), self.file:
            if kind is None:
                (self.folder / f"{self.name}.ends").write_bytes(self.ends.tobytes())
                (self.folder / f"{self.name}.strings").write_text(json.dumps(list(self.known)))
