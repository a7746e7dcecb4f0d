"""Read lines of text exactly as they are in a file, plain or gzip, and write them back."""

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from ..check import UsageError
from . import atomic

BYTE_ORDER_MARK = "\ufeff"
WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""What text in other encodings may begin with; the first marks begin with those after them."""
GZIP_MAGIC = b"\x1f\x8b"
READ = 1 << 20
"""How many bytes are read at a time, if there are as many."""
UNREADABLE = (OSError, EOFError, ValueError, zlib.error)
"""What reading a file may raise."""


class DataError(UsageError):
    """Input that cannot be used; its message names file and line."""


def read_lines(source: str | Path) -> list[str]:
    r"""Read all lines, each with its own line end, so that they join to the text of the file.

    A line ends at "\n" and nowhere else: the other separators of Unicode may be part of a word.
    A byte-order mark stays on the first line. "-" is standard input. What begins as gzip does
    is unpacked, whatever its name.
    """
    return list(iterate_lines(source))


def iterate_lines(source: str | Path) -> Generator[str, None, None]:
    """Yield what `read_lines` lists, for files that do not fit into memory."""
    name, number = name_of(source), 0
    try:
        with opened(source) as file:
            for number, line in enumerate(file, 1):  # noqa: B007 (the errors name it)
                yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}:{number}: {wrong_encoding(error, number)}") from error
    except UNREADABLE as error:
        raise unreadable(name, error, number) from error


def iterate_chunks(source: str | Path, place: int = 0, line: int = 1) -> Iterator[bytes]:
    """Yield the bytes of a source, unpacked, as they come.

    They begin at `place`, which is the start of a `line`.
    """
    name, lines = name_of(source), line - 1
    try:
        with opened(source) as file:
            if place:
                file.seek(place)
            while chunk := file.read1(READ):
                lines += chunk.count(b"\n")
                yield chunk
    except UNREADABLE as error:
        raise unreadable(name, error, lines) from error


def wrong_encoding(error: UnicodeDecodeError, number: int) -> str:
    """The message for line `number`, which is not UTF-8."""
    for mark, encoding in WIDE.items():
        if number == 1 and error.object.startswith(mark):
            return (
                f"Text must be encoded in UTF-8, but this file begins with the byte-order mark of "
                f"{encoding}; convert it with `iconv -f {encoding} -t UTF-8`, or save it as UTF-8."
            )
    return (
        f"Text must be encoded in UTF-8, but byte {error.start + 1} of this line "
        f"(0x{error.object[error.start]:02x}) is not; convert the file, for example with "
        "`iconv -f LATIN1 -t UTF-8`."
    )


def bare(line: str, number: int) -> str:
    r"""The text of line `number` (1-based) without its line end and byte-order mark.

    >>> bare("\ufeffa word \r\n", 1)
    'a word '
    """
    text = line.removesuffix("\n").removesuffix("\r")
    return text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text


def blank(text: str) -> bool:
    """Does a line without its end hold nothing but spaces and tabs?"""
    return not text.strip(" \t")


def blocks(lines: Iterable[str], start: int = 1) -> Iterator[list[tuple[int, str]]]:
    r"""Yield the lines between blank ones, with their numbers and without their ends.

    `start` is the number of the first line.

    >>> list(blocks(["a\n", "b\n", " \n", "\n", "c"]))
    [[(1, 'a'), (2, 'b')], [(5, 'c')]]
    """
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start):
        text = bare(line, number)
        if not blank(text):
            block.append((number, text))
        elif block:
            yield block
            block = []
    if block:
        yield block


def name_of(source: str | Path) -> str:
    """The name of a source in messages."""
    return "standard input" if str(source) == "-" else str(source)


def unreadable(name: str, error: Exception, line: int = 0) -> DataError:
    """The error for a file that cannot be opened, or not be read after a line."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return DataError(
            f"{name}: A gzip file must be complete, but this one is cut off or damaged after line "
            f"{line} ({error}); copy or download it again."
        )
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return DataError(f"{name}: There is no such file; check the path.")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{name}: A file was expected, got a folder; give one of its files.")
    if isinstance(error, PermissionError):
        return DataError(
            f"{name}: You do not have permission to read this file; change its permissions or "
            "copy it."
        )
    return DataError(f"{name}: This file cannot be read ({error}); check the path.")


@contextmanager
def opened(source: str | Path) -> Iterator["io.BufferedReader[Any]"]:
    """Open the bytes of a source, unpacked."""
    with standard_input() if str(source) == "-" else open(source, "rb") as packed:
        if packed.peek(2)[:2] != GZIP_MAGIC:
            yield packed
            return
        with gzip.GzipFile(fileobj=packed) as file, io.BufferedReader(file) as unpacked:
            yield unpacked


@contextmanager
def standard_input() -> Iterator[io.BufferedReader]:
    """The bytes of standard input, as they come; it stays open."""
    binary = sys.stdin.buffer
    if isinstance(binary, io.BufferedReader):
        yield binary
        return
    reader = io.BufferedReader(cast(io.BytesIO, binary))  # replaced by bytes in memory
    try:
        yield cast(io.BufferedReader, reader)
    finally:
        reader.detach()


def write_text(target: str | Path | None, text: str) -> None:
    """Write `text` as it is, whole or not at all; "-" or nothing is standard output.

    A file is written under a temporary name in its folder and then renamed, so it is never seen
    half written. If the name ends in ".gz" it is compressed; equal texts give equal bytes.
    """
    if target is None or str(target) == "-":
        print_text(text)
        return
    data = text.encode("utf-8")
    if str(target).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    try:
        write_bytes(Path(target), data)
    except atomic.DiskFullError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(
            f"{target}: The result cannot be written there ({error}); choose a file in an existing "
            "folder that you may write to."
        ) from error


def print_text(text: str) -> None:
    """Write to standard output in UTF-8, without translating line ends where it takes bytes."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # replaced by a notebook or by `redirect_stdout`
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    binary.write(text.encode("utf-8"))
    binary.flush()


def write_bytes(path: Path, data: bytes) -> None:
    """Replace the file at `path`, or follow it where it is a link, a pipe or a device."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():  # /dev/null must not be replaced by a file
        path.write_bytes(data)
        return
    atomic.write_bytes(path, data)
