"""Folders that are made from files once, and again when a file has changed."""

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any

from .atomic import make_folder, needing_space, write_bytes

ABOUT = "about.json"
"""What a folder was made from; written last, so that a folder with it is complete."""

ABANDONED = 3600.0
"""After how many seconds without a change a folder that is being made is given up."""


def kept(
    root: Path, source: str, made_with: Mapping[str, Any], make: Callable[[Path], None]
) -> Path:
    """A folder in `root` that `make` filled from the file `source`: now, unless it did so before.

    It is made under another name and renamed, so a process that is killed leaves no half of it. A
    source is taken for unchanged if its size and time are. What is made from a source that has
    changed, from another one, or `made_with` other settings, has another folder: nobody replaces
    what somebody else reads.
    """
    stat = Path(source).stat()
    about = {"source": source, "size": stat.st_size, "time": stat.st_mtime_ns, **made_with}
    folder = root / sha256(json.dumps(about).encode()).hexdigest()[:16]
    if made_from(folder) == about:
        return folder
    make_folder(root.parent)
    sweep(root)
    temporary = root.with_name(f".{root.name}.{token_hex(4)}.tmp")
    try:
        with needing_space(root):
            temporary.mkdir()
            make(temporary)
            write_bytes(temporary / ABOUT, json.dumps(about).encode())
        make_folder(root)
        put_in_place(temporary, folder, about)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def put_in_place(made: Path, folder: Path, about: Mapping[str, Any]) -> None:
    """Give a folder its name, unless another process was faster and may read its own already."""
    try:
        made.rename(folder)
    except OSError:
        if made_from(folder) == about:
            return
        shutil.rmtree(folder, ignore_errors=True)  # it is not complete
        made.rename(folder)


def made_from(folder: Path) -> dict[str, Any] | None:
    """What a folder was made from; None if it is not there or not complete."""
    try:
        found: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError):
        return None
    return found


def discard(root: Path) -> None:
    """Remove folders that can be made again, and what killed processes left of them."""
    shutil.rmtree(root, ignore_errors=True)
    sweep(root)


def sweep(root: Path) -> None:
    """Remove what was begun and never renamed, if nobody has written to it for long."""
    for leftover in root.parent.glob(f".{root.name}.*.tmp"):
        with suppress(FileNotFoundError):  # it was renamed meanwhile
            written = max(path.stat().st_mtime for path in (leftover, *leftover.iterdir()))
            if time() - written > ABANDONED:
                shutil.rmtree(leftover, ignore_errors=True)
