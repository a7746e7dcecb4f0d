"""Pairs of strings: a source, a tab and its target on each line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from ..check import check_choice
from .text import DataError, bare, iterate_chunks, name_of, read_lines
from .windows import cut, windows

Allowed = Literal["one", "several"]
"""How many references a line may have."""


@dataclass(frozen=True)
class Pair:
    """One line of a file."""

    source: str
    references: tuple[str, ...]
    """The right outputs, equally good; none where the line is a source alone."""
    line: int
    """Counted from 1."""


def read_references(source: str | Path, references: Allowed = "one") -> list[Pair]:
    """Read sources with their references, from a file or standard input ("-").

    Source and target may be empty, but the tab between them must be there.
    """
    return parse(read_lines(source), name_of(source), references)


def read_sources(source: str | Path, references: Allowed = "one") -> list[Pair]:
    """Read the sources to transduce: every line is one, even if it is empty.

    A target after a tab is allowed, so that training files can be read as well.
    """
    return parse_sources(read_lines(source), name_of(source), references)


def parse(lines: Sequence[str], path: str, references: Allowed = "one") -> list[Pair]:
    """Find the pairs of a file in which every line has a source and a target."""
    parts = complete([parse_sources(lines, path, references)], path)
    return [pair for part in parts for pair in part]


def pair_windows(
    source: str | Path, references: Allowed = "one", window: int = 1000
) -> Iterator[list[Pair]]:
    """Yield what `read_references` lists, so many lines at a time."""
    name = name_of(source)
    parts = windows(name, cut(iterate_chunks(source), "line", window), lambda _: window)
    return complete(
        (parse_sources(part.lines(), name, references, part.start.line) for part in parts), name
    )


def complete(parts: Iterable[list[Pair]], path: str) -> Iterator[list[Pair]]:
    """The pairs of a file, part by part; refuse those without a target.

    Is there no tab in all of the file, the message says that, so it has to wait for one.
    """
    lacking: Pair | None = None
    tabs = texts = False
    for pairs in parts:
        lacking = lacking or next((pair for pair in pairs if not pair.references), None)
        tabs = tabs or any(pair.references for pair in pairs)
        texts = texts or any(pair.source for pair in pairs)
        if lacking is not None and tabs:
            break
        yield pairs
    if lacking is not None and texts and not tabs:
        raise DataError(
            f"{path}: Every line must have a source and a target with a tab between them, but no "
            "line of this file has a tab; add the tabs."
        )
    if lacking is not None:
        raise DataError(f"{path}:{lacking.line}: {missing(lacking.source)}")


def parse_sources(
    lines: Sequence[str], path: str, references: Allowed = "one", start: int = 1
) -> list[Pair]:
    """Find the source of every line, and its references where it has some.

    `start` is the number of the first line.
    """
    check_choice(references, get_args(Allowed), "way to read references")
    texts = ((number, bare(line, number)) for number, line in enumerate(lines, start))
    return [pair_of(text.split("\t"), path, number, references) for number, text in texts]


def pair_of(fields: Sequence[str], path: str, line: int, references: Allowed) -> Pair:
    """Separate source and references.

    Empty references after the first are left out: a table has them where a source has fewer
    references than another one.
    """
    if len(fields) <= 2:
        return Pair(fields[0], tuple(fields[1:]), line)
    if references == "one":
        raise DataError(
            f"{path}:{line}: A line must have one tab, between source and target, got "
            f"{len(fields) - 1}; remove the others, or read the file with `references` = several "
            "if they separate alternative targets."
        )
    further = (reference for reference in fields[2:] if reference)
    return Pair(fields[0], (fields[1], *further), line)


def missing(source: str) -> str:
    """The message for a line without a tab."""
    if not source:
        return (
            "A line must have a source and a target with a tab between them, but this one is "
            "empty; remove it (an empty source is written as an empty field before a tab)."
        )
    return (
        f"A line must have a tab between source and target, but {source[:60]!r} has none; add it "
        "(an empty target is written as a tab at the end of the line)."
    )


def merged(pairs: Iterable[Pair]) -> list[Pair]:
    """Merge pairs with the same source; each reference is kept once, in order of appearance.

    >>> merged([Pair("a", ("x",), 1), Pair("b", ("z",), 2), Pair("a", ("y", "x"), 3)])
    [Pair(source='a', references=('x', 'y'), line=1), Pair(source='b', references=('z',), line=2)]
    """
    found: dict[str, Pair] = {}
    for pair in pairs:
        first = found.setdefault(pair.source, pair)
        several = tuple(dict.fromkeys(first.references + pair.references))
        found[pair.source] = replace(first, references=several)
    return list(found.values())
