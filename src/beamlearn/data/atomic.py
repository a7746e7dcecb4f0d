"""Files that are either the old one or the new one, whenever the process is killed."""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

if sys.platform != "win32":
    import fcntl


def write_bytes(path: Path, data: bytes) -> None:
    """Write a temporary file beside `path`, bring it to the disk, and rename it to `path`.

    The temporary name is new each time, so that two writers never share one. A process that is
    killed leaves it behind; see `sweep`.
    """
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, unless it exists."""
    path.mkdir(parents=True, exist_ok=True)
    sync_folder(path.parent)


def sweep(folder: Path, name: str = "*") -> None:
    """Remove what killed writers of `name` left behind; call it only if no writer is alive."""
    for leftover in folder.glob(f".{name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring what was appended to a file to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system lets a folder be opened for it."""
    with suppress(OSError):  # without it, a power failure may bring back the old file: still whole
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold a lock file; False if another process does.

    The system releases it when the process ends, however it ends. Where there are no such locks
    (Windows, some network folders), there is no protection.
    """
    with path.open("ab") as file:
        yield acquired(file.fileno())


def acquired(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if it is locked already."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
    return True
