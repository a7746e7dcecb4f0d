"""Parts put together: all of them, whole, and of one run."""

from collections.abc import Sequence
from pathlib import Path

from ..data.growing_file import GrowingFile
from ..data.text import READ
from ..engines.part import Part
from .journal import Journal, ResumeError, journal_of, read_journal
from .part import parts_beside, path_of


def join(whole: Path, given: Sequence[Path] = ()) -> list[Path]:
    """Write the parts of an output into one file, and return them.

    Without `given` parts, they are looked for beside it.
    """
    paths = list(given) or parts_beside(whole)
    if not paths:
        raise ResumeError(
            f"{whole}: There must be parts of this file beside it, such as "
            f"{path_of(Part(1, 4), whole).name}, got none; check the name."
        )
    ordered = in_order(whole, {path: finished(path) for path in paths})
    file = GrowingFile(whole)
    try:
        for path in ordered:
            append(path, file)
        file.finish()
    except BaseException:
        file.close(keep=False)
        raise
    return ordered


def finished(path: Path) -> Journal:
    """The journal of a part that is whole."""
    journal = read_journal(journal_of(path))
    if journal is None:
        raise ResumeError(
            f"{path}: A part must have its journal beside it, but there is no "
            f"{journal_of(path).name}; make the part again with `beamlearn predict`."
        )
    if journal.identity.get("part") is None:
        raise ResumeError(
            f"{path}: A part must have been made with `beamlearn predict --part`, but this is a "
            "whole output; leave it out."
        )
    size = path.stat().st_size if path.exists() else 0
    if not journal.finished or size != journal.done.output:
        raise ResumeError(
            f"{path}: A part must be finished before it can be joined, but this one has answers to "
            f"{journal.done.mark.sentence:,} sentences only; go on with it with `beamlearn predict "
            "--resume`."
        )
    return journal


def in_order(whole: Path, parts: dict[Path, Journal]) -> list[Path]:
    """The parts by their numbers, if they are all those of one run."""
    (first, example), *others = parts.items()
    for path, journal in others:
        if wrong := example.differs({**journal.identity, "part": example.identity["part"]}):
            raise ResumeError(
                f"{path}: Parts must be of one run, but not {first} and this: {wrong}."
            )
    places = {Part.read(journal.identity["part"]): path for path, journal in parts.items()}
    count = next(iter(places)).count
    for number in range(1, count + 1):
        if Part(number, count) not in places:
            raise ResumeError(
                f"{whole}: There must be {count} parts, but part {number} is missing; make it with "
                f"`beamlearn predict --part {Part(number, count)}`."
            )
    return [places[Part(number, count)] for number in range(1, count + 1)]


def append(path: Path, file: GrowingFile) -> None:
    """Write a part at the end of a file."""
    with path.open("rb") as part:
        while chunk := part.read(READ):
            file.append(chunk)
