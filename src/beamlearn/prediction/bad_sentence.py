"""Sentences that cannot be read, put aside so that the others are answered."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..data.text import DataError
from ..data.windows import Unit, Window, cut, windows
from ..tasks.task import Answering


@dataclass(frozen=True)
class BadSentence:
    """A sentence that cannot be read, as it is in the input."""

    data: bytes
    why: str
    """With its file and line."""

    def written(self) -> bytes:
        """A comment that says why, and the sentence."""
        end = b"" if self.data.endswith(b"\n") else b"\n"
        return f"# {self.why}\n".encode() + self.data + end


def sorted_out(window: Window, unit: Unit, answering: Answering) -> Iterator[Window | BadSentence]:
    """A window as shorter ones that can be read, and the bad sentences between them, in order."""
    sentences = answering.sentences
    pieces = list(windows(window.name, cut([window.data], unit, 1), sentences, window.start))
    good: list[Window] = []
    bad = dict(faults(pieces, answering))
    for place, piece in enumerate(pieces):
        if place not in bad:
            good.append(piece)
            continue
        if good:
            yield joined(good)
        yield BadSentence(piece.data, bad[place])
        good = []
    if good:
        yield joined(good)


def faults(pieces: list[Window], answering: Answering, first: int = 0) -> Iterator[tuple[int, str]]:
    """Which pieces cannot be read, by their places, and why not: each half is asked for its own."""
    try:
        answering.check(joined(pieces))
    except DataError as error:
        if len(pieces) == 1:
            yield first, str(error)
            return
        middle = len(pieces) // 2
        yield from faults(pieces[:middle], answering, first)
        yield from faults(pieces[middle:], answering, first + middle)


def joined(pieces: list[Window]) -> Window:
    """Pieces that follow each other, as one window."""
    return Window(pieces[0].name, b"".join(piece.data for piece in pieces), pieces[0].start)
