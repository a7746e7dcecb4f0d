"""What is to be answered: a file, standard input or texts, cut into windows."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path

from ..data.document import certain
from ..data.text import GZIP_MAGIC, READ, UNREADABLE, iterate_chunks, name_of, unreadable
from ..data.windows import START, Mark, Unit, Window, cut, windows

TYPED = "`text`"
"""What messages call texts that were given in place of a file."""


@dataclass(frozen=True)
class Input:
    """Where sentences come from, and how they are cut into windows."""

    source: str
    """A file, or - for standard input."""
    unit: Unit
    size: int
    """How many sentences a window has."""
    texts: tuple[str, ...] = ()
    """Lines to take in place of the source."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return TYPED if self.texts else name_of(self.source)

    @property
    def kept(self) -> bool:
        """Can it be read again?"""
        return not self.texts and self.source != "-" and Path(self.source).is_file()

    def cut(self, start: Mark = START) -> Iterator[bytes]:
        """The texts of the windows from a place on."""
        return cut(self._chunks(start), self.unit, self.size)

    def _chunks(self, start: Mark) -> Iterable[bytes]:
        if self.texts:
            return ["".join(f"{line}\n" for line in self.texts).encode()]
        return iterate_chunks(self.source, start.place, start.line)

    def windows(
        self, sentences: Callable[[Window], int], start: Mark, stop: Mark | None = None
    ) -> Iterator[Window]:
        """The windows from a place on, to another one or to the end."""
        found = windows(self.name, self.cut(start), sentences, start)
        if stop is None:
            return found
        return takewhile(lambda window: window.start.place < stop.place, found)

    def marks(self, sentences: Callable[[Window], int]) -> list[Mark]:
        """Where each window begins, and where the last one ends."""
        found = windows(self.name, self.cut(), sentences)
        return [START, *(window.end for window in found)]

    def bytes(self) -> int | None:
        """How many bytes will be read, if that is known before."""
        if not self.kept:
            return None
        with open(self.source, "rb") as file:
            packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        return None if packed else Path(self.source).stat().st_size

    def digest(self) -> str:
        """A fingerprint of the file as it is on the disk."""
        sha = hashlib.sha256()
        try:
            with open(self.source, "rb") as file:
                while chunk := file.read(READ):
                    sha.update(chunk)
        except UNREADABLE as error:
            raise unreadable(self.name, error) from error
        return sha.hexdigest()


def opening(name: str, texts: Iterator[bytes], patient: bool) -> tuple[Window, Iterator[bytes]]:
    """The first windows as one, which shows what the input is, and then all windows.

    Whoever is `patient` reads on until there is a line that is certainly no comment.
    """
    held: list[bytes] = []
    for text in texts:
        held.append(text)
        if not patient or certain(Window(name, text).shown()):
            break
    return Window(name, b"".join(held)), chain(held, texts)
