"""JSON as a run folder holds it: one object per file, or one per line."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...check import UsageError


class RunError(UsageError):
    """A run folder that cannot be used; the message says why and what to do."""


class BusyError(RunError):
    """Another process trains in the folder, or has just done so; later it can be used."""


class OccupiedError(RunError):
    """There is a run in the folder already."""


def to_json(record: Mapping[str, Any], path: Path, indent: int | None = None) -> bytes:
    """Write an object for `path`: in the order given, and with every number exactly as it is."""
    try:
        return encode(record, indent)
    except (TypeError, ValueError) as error:
        raise RunError(
            f"{path} can hold only finite numbers, strings, lists and objects, got "
            f"{culprit(record)} ({error}); leave it out, or put null or a string in its place."
        ) from error


def encode(value: Any, indent: int | None = None) -> bytes:
    """Write any JSON value and a newline; NaN, infinities and lone surrogates are errors."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return f"{text}\n".encode()


def fingerprint(record: Mapping[str, Any]) -> str:
    """A digest of what an object holds, however it is spaced in a file.

    What `encode` refuses may stand in a file that was changed; it has a digest of its own.
    """
    text = json.dumps(record, ensure_ascii=False)
    return hashlib.sha256(f"{text}\n".encode("utf-8", "surrogatepass")).hexdigest()


def culprit(record: Mapping[str, Any]) -> str:
    """The first entry that JSON cannot hold, looked for inside of objects."""
    for name, value in record.items():
        try:
            encode({name: value})
        except (TypeError, ValueError):
            return culprit(value) if isinstance(value, Mapping) else f"{name!r} = {value!r:.80}"
    return "an object inside of itself"


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one object."""
    try:
        return parse(path.read_bytes())
    except FileNotFoundError as error:
        raise RunError(f"There is no {path}; restore it from a copy.") from error
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise RunError(
            f"{path} is not valid JSON ({error}); fix it or restore it from a copy."
        ) from error


def read_lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield each line and its object; a last line without its end was torn and is left out."""
    if not path.exists():
        return
    # Not splitlines: strings may hold other characters that end a line in Unicode.
    try:
        whole = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise unreadable(path, error) from error
    for number, line in enumerate(whole, 1):
        try:
            yield line, parse(line)
        except ValueError as error:
            raise RunError(
                f"{path}, line {number}, is not valid JSON ({error}); fix it or delete it."
            ) from error


def unreadable(path: Path, error: OSError) -> RunError:
    """The error for a file that is there and cannot be read."""
    return RunError(
        f"{path} must be a file that can be read, but the system says: {error.strerror}; restore "
        "it from a copy."
    )


def parse(data: bytes) -> dict[str, Any]:
    """Read one object; the error says where it went wrong."""
    try:
        value = json.loads(data.decode())
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got a {type(value).__name__}")
    return value
