"""Windows: some whole sentences of a text as it is, and where they stand in it."""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .text import DataError, wrong_encoding

Unit = Literal["line", "block"]
"""What a sentence is in a text: a line, or the lines before a blank one."""
ROOM = 16 << 20
"""The bytes after which a window ends, however few sentences it has."""
BLANK = re.compile(rb"\n[ \t]*\r?\n")
"""The end of a line, and a blank line after it."""


@dataclass(frozen=True)
class Mark:
    """A place in a text."""

    place: int = 0
    """The bytes before it."""
    line: int = 1
    """The number of the line that begins there."""
    sentence: int = 0
    """The sentences before it."""


START = Mark()
"""The place where a text begins."""


@dataclass(frozen=True)
class Window:
    """Some whole sentences of a text."""

    name: str
    """What messages call the text."""
    data: bytes
    start: Mark = START
    sentences: int = 0

    def lines(self) -> list[str]:
        """Its lines with their ends, which join to its text."""
        found, number = list[str](), self.start.line
        try:
            for number, line in enumerate(io.BytesIO(self.data), self.start.line):  # noqa: B007
                found.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name}:{number}: {wrong_encoding(error, number)}") from error
        return found

    def shown(self) -> list[str]:
        """Its lines, with marks in place of what is not UTF-8: enough to see what it is."""
        return [line.decode("utf-8", errors="replace") for line in io.BytesIO(self.data)]

    @property
    def end(self) -> Mark:
        """The place after it."""
        start = self.start
        return Mark(
            start.place + len(self.data),
            start.line + self.data.count(b"\n"),
            start.sentence + self.sentences,
        )


def windows(
    name: str,
    texts: Iterable[bytes],
    sentences: Callable[[Window], int],
    start: Mark = Mark(),
) -> Iterator[Window]:
    """Texts that follow each other as windows; `sentences` counts those of each.

    An empty text is one window.
    """
    window = None
    for text in texts:
        window = Window(name, text, start)
        window = replace(window, sentences=sentences(window))
        yield window
        start = window.end
    if window is None and start == START:
        yield Window(name, b"")


def cut(chunks: Iterable[bytes], unit: Unit, size: int) -> Iterator[bytes]:
    r"""Cut a text after every `size` units, or earlier where they fill the room of a window.

    It depends on the text alone, not on its chunks: cut anew from the end of a window, the rest
    of a text comes in the same windows.

    >>> list(cut([b"a\n\nb", b"\nc\n\nd"], "block", 2)), list(cut([b"a\nb\nc"], "line", 2))
    ([b'a\n\nb\nc\n\n', b'd'], [b'a\nb\n', b'c'])
    """
    held, begin, scanned, units = b"", 0, 0, 0
    for chunk in chunks:
        held, scanned, begin = held[begin:] + chunk, scanned - begin, 0
        for scanned in ENDS[unit](held, scanned):  # noqa: B020 (the next chunk goes on there)
            units += 1
            if units == size or scanned - begin >= ROOM:
                yield held[begin:scanned]
                begin, units = scanned, 0
    if begin < len(held):
        yield held[begin:]


def line_ends(text: bytes, since: int) -> Iterator[int]:
    """Where the lines after a place end."""
    while (found := text.find(b"\n", since)) >= 0:
        since = found + 1
        yield since


def block_ends(text: bytes, since: int) -> Iterator[int]:
    """Where the blocks after a place end: after the blank line that follows another line."""
    for found in BLANK.finditer(text, since):
        line = text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()]
        if line.removesuffix(b"\r").strip(b" \t"):
            yield found.end()


ENDS: Mapping[Unit, Callable[[bytes, int], Iterator[int]]] = {
    "line": line_ends,
    "block": block_ends,
}
