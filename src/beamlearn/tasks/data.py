"""Data sets, and how they are split into a training set and a validation set."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from ..data.text import DataError
from .settings import Files

HELD_OUT = 10
"""Without a validation file, every tenth sentence is held out."""
LARGE = 32 << 20
"""From how many bytes on a training file is large: in memory, it needs twenty times that."""
GZIP = 6
"""About how many times larger text is when it is unpacked."""
Same = TypeVar("Same", bound="DataSet")


@runtime_checkable
class DataSet(Protocol):
    """Sentences and their right outputs."""

    @property
    def words(self) -> Sequence[Sequence[str]]:
        """The words of each sentence."""
        ...

    @property
    def digest(self) -> str:
        """A fingerprint of all of the data."""
        ...

    def __len__(self) -> int: ...

    def take(self: Same, places: Sequence[int]) -> Same:
        """The examples at these places."""
        ...


Data = TypeVar("Data", bound=DataSet)


def fingerprint(*columns: Iterable[object] | None) -> str:
    """A digest of several lists, as Python writes them, that are never in memory as a whole."""
    sha, between = sha256(), "("
    for column in columns:
        sha.update(between.encode())
        for part in ("None",) if column is None else written(column):
            sha.update(part.encode())
        between = ", "
    sha.update(b")")
    return sha.hexdigest()


def written(items: Iterable[object]) -> Iterator[str]:
    """The text of a list, part by part.

    >>> "".join(written([["a", "b"], []]))
    "[['a', 'b'], []]"
    """
    between = "["
    for item in items:
        yield between + repr(item)
        between = ", "
    yield "]" if between == ", " else "[]"


def is_cached(files: Files) -> bool:
    """Is the training file to be packed into a cache, rather than read into memory?"""
    path = Path(files.train)
    if files.cache == "never" or not path.is_file():
        return False
    unpacked = path.stat().st_size * (GZIP if path.suffix == ".gz" else 1)
    return files.cache == "always" or unpacked > LARGE


def read_split(files: Files, read: Callable[[str], Data]) -> tuple[Data, Data]:
    """The training set and the validation set; `read` reads one file."""
    train = read(files.train)
    if files.limit is not None:
        train = train.take(range(min(files.limit, len(train))))
    if files.dev is not None:
        return train, read(files.dev)
    if len(train) < 2:
        raise DataError(
            f"{files.train}: Without a validation file at least 2 examples are needed, got 1; "
            "name a validation file.",
            "dev",
        )
    return hold_out(train)


def spread(number: int, limit: int | None) -> list[int]:
    """The places of at most `limit` of so many examples, at equal distances.

    >>> spread(10, 4), spread(2, 4), spread(3, None)
    ([0, 2, 5, 7], [0, 1], [0, 1, 2])
    """
    if limit is None or limit >= number:
        return list(range(number))
    return [place * number // limit for place in range(limit)]


def hold_out(data: Data) -> tuple[Data, Data]:
    """Split off every tenth sentence."""
    places = range(len(data))
    return (
        data.take(array("q", (i for i in places if i % HELD_OUT))),
        data.take(places[::HELD_OUT]),
    )
