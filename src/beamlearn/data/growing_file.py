"""A file that grows under another name, and gets its own when it is whole."""

import gzip
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from . import atomic
from .text import READ, DataError

HEADER = 10
"""The bytes before the contents of a gzip file without a name."""


@final
class GrowingFile:
    """A file at `path` with ".partial" after its name, which may have been begun before."""

    def __init__(self, path: Path, size: int = 0) -> None:
        self.path = Path(os.path.realpath(path))
        self.partial = partial_of(self.path)
        with writing(self.path):
            self.file = self.partial.open("r+b" if size else "wb")
            self.file.truncate(size)  # a process that was killed may have written more
            self.file.seek(size)

    @property
    def closed(self) -> bool:
        """Can nothing more be written?"""
        return self.file.closed

    def append(self, data: bytes) -> None:
        """Write at the end."""
        with writing(self.path):
            self.file.write(data)

    def saved(self) -> int:
        """Bring all of it to the disk; return its size."""
        with writing(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            return self.file.tell()

    def finish(self) -> None:
        """Give it its name; if that ends in ".gz", compress it."""
        self.saved()
        self.file.close()
        with writing(self.path):
            finish(self.path)

    def close(self, keep: bool) -> None:
        """End it before it is whole, and keep or remove what there is."""
        self.file.close()
        if not keep:
            self.partial.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """The name of a file that is not whole yet."""
    return path.with_name(f"{path.name}.partial")


def finish(path: Path) -> None:
    """Give a partial file that is whole its name, with the permissions of the one before."""
    partial = partial_of(path)
    if path.suffix == ".gz":
        packed = path.with_name(f"{path.name}.packed")
        try:
            with atomic.needing_space(path):
                compress(partial, packed)
        except BaseException:
            packed.unlink(missing_ok=True)
            raise
    else:
        packed = partial
    if path.exists():
        shutil.copymode(path, packed)
    os.replace(packed, path)
    partial.unlink(missing_ok=True)
    atomic.sync_folder(path.parent)


def compress(source: Path, target: Path) -> None:
    """Write the bytes that `gzip.compress` makes of a file, without holding it in memory."""
    packer, checksum, size = zlib.compressobj(9, wbits=-zlib.MAX_WBITS), 0, 0
    with source.open("rb") as file, target.open("wb") as packed:
        packed.write(gzip.compress(b"", mtime=0)[:HEADER])
        while chunk := file.read(READ):
            checksum, size = zlib.crc32(chunk, checksum), size + len(chunk)
            packed.write(packer.compress(chunk))
        packed.write(packer.flush())
        packed.write(checksum.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"))
        packed.flush()
        os.fsync(packed.fileno())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in words why a result cannot be written."""
    try:
        with atomic.needing_space(path):
            yield
    except atomic.DiskFullError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: The result cannot be written there ({error}); choose a file in an existing "
            "folder that you may write to."
        ) from error
