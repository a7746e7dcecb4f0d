"""Folders that are made from a file once, and again when the file has changed."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any

from .atomic import make_folder, needing_space, write_bytes

ABOUT = "about.json"
"""What a folder was made from; written last, so that a folder with it is complete."""

ABANDONED = 3600.0
"""After how many seconds a folder that is being made is given up."""


def kept(
    folder: Path, source: str, made_with: Mapping[str, Any], make: Callable[[Path], None]
) -> None:
    """Have `make` fill a folder from the file `source`, unless that was done before.

    It is made under another name and renamed, so a process that is killed leaves no half of it. A
    source is taken for unchanged if its size and time are; what it is `made_with` must be the same.
    """
    stat = Path(source).stat()
    about = {"source": source, "size": stat.st_size, "time": stat.st_mtime_ns, **made_with}
    if made_from(folder) == about:
        return
    make_folder(folder.parent)
    sweep(folder)
    temporary = folder.with_name(f".{folder.name}.{token_hex(4)}.tmp")
    try:
        with needing_space(folder):
            temporary.mkdir()
            make(temporary)
            write_bytes(temporary / ABOUT, json.dumps(about).encode())
        if made_from(folder) != about:  # else another process was faster
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def made_from(folder: Path) -> dict[str, Any] | None:
    """What a folder was made from; None if it is not there or not complete."""
    try:
        found: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError):
        return None
    return found


def discard(folder: Path) -> None:
    """Remove a folder that can be made again, and what killed processes left of it."""
    shutil.rmtree(folder, ignore_errors=True)
    sweep(folder)


def sweep(folder: Path) -> None:
    """Remove what was begun long ago and never renamed; what is new may still be written."""
    for leftover in folder.parent.glob(f".{folder.name}.*.tmp"):
        if time() - leftover.stat().st_mtime > ABANDONED:
            shutil.rmtree(leftover, ignore_errors=True)
