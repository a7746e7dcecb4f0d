"""Files that are either the old one or the new one, whenever the process is killed."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from filelock import FileLock, Timeout

WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)
"""The errors of file systems that have no locks."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a disk that is full, or of which a user may have no more."""


class DiskFullError(OSError):
    """There is no space left to write a file; the message says which."""


@contextmanager
def needing_space(path: Path) -> Iterator[None]:
    """Say which file was being written if the disk, or what one may use of it, is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise DiskFullError(
            f"There is no space left on the disk to write {path} ({error.strerror}); free some "
            "space, and try again."
        ) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a temporary file beside `path`, bring it to the disk, and rename it to `path`.

    The temporary name is new each time, so that two writers never share one. A process that is
    killed leaves it behind; see `sweep`.
    """
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    try:
        with needing_space(path), temporary.open("xb") as file:
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
    with needing_space(path):
        path.mkdir(parents=True, exist_ok=True)
    sync_folder(path.parent)


def sweep(folder: Path, name: str = "*") -> None:
    """Remove what killed writers of `name` left behind; call it only if no writer is alive."""
    for leftover in folder.glob(f".{name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring what was appended to a file to the disk."""
    with needing_space(path), path.open("rb+") as file:
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
def try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file; False, without waiting, if it is held already.

    The system releases it when the process ends, however it ends; the file may stay behind. File
    systems without locks give no protection.
    """
    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    held = True
    try:
        lock.acquire()
    except Timeout:
        held = False
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
    try:
        yield held
    finally:
        lock.release()
