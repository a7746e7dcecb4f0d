"""Lines in windows of whole sentences, so that a file need not be read to its end."""

from collections.abc import Iterable, Iterator

from .text import bare, blank


def windows(lines: Iterable[str], sentences: int | None) -> Iterator[tuple[int, list[str]]]:
    r"""Cut lines after every so many blocks that a blank line ends; None: do not cut.

    Yields the number of the first line of each window, counted from 1, and its lines. An empty
    file is one window.

    >>> list(windows(["a\n", "\n", "b\n", "c\n", "\n", "d"], 2))
    [(1, ['a\n', '\n', 'b\n', 'c\n', '\n']), (6, ['d'])]
    """
    start, held, ended, inside = 1, list[str](), 0, False
    for number, line in enumerate(lines, 1):
        held.append(line)
        filled = not blank(bare(line, number))
        ended += inside and not filled
        inside = filled
        if ended == sentences:
            yield start, held
            start, held, ended = number + 1, [], 0
    if held or start == 1:
        yield start, held


def line_windows(lines: Iterable[str], size: int | None) -> Iterator[tuple[int, list[str]]]:
    r"""The same where every line is a sentence.

    >>> list(line_windows(["a\n", "b\n", "c"], 2))
    [(1, ['a\n', 'b\n']), (3, ['c'])]
    """
    start, held = 1, list[str]()
    for number, line in enumerate(lines, 1):
        held.append(line)
        if len(held) == size:
            yield start, held
            start, held = number + 1, []
    if held or start == 1:
        yield start, held
