"""Leases: the right to write into a folder, which machines may share over a network.

Locks of the system may not reach other machines, so who wants to write also puts up a file of its
own, named after its machine and process, and only then looks for those of others. Of two that do
this at once, at least one sees the other; both may give way, but never both write. Nobody removes
the file of a process that may be alive, and as no two have the same name, nobody removes the wrong
one.
"""

import hashlib
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import final

from ..check import UsageError
from .atomic import needing_space, try_lock

BEAT = 15.0
"""How often, in seconds, an owner shows that it is alive."""
STALE = 180.0
"""After how many seconds without a sign an owner on another machine is given up."""
OWNER = re.compile(r"(?P<lock>.+)\.(?P<machine>[\w-]+)\.(?P<pid>\d+)\.(?P<start>\d+)\.[0-9a-f]{16}")


class LeaseLostError(UsageError):
    """Somebody else may write into the folder now."""


@dataclass(frozen=True)
class Owner:
    """A process of a machine."""

    machine: str
    pid: int
    start: str
    """When it began, as numbers of processes are used again."""

    @property
    def gone(self) -> bool:
        """Has the process, which is of this machine, ended?"""
        return start_of(self.pid) != self.start


@final
class Lease:
    """A folder that this process may write into, as long as the file of the lease is there."""

    def __init__(self, path: Path) -> None:
        self.path, self.lost = path, False
        self.renewed = clocks()

    def renew(self) -> None:
        """Show that this process is alive."""
        try:
            os.utime(self.path)
        except FileNotFoundError:
            self.lost = True
        else:
            self.renewed = clocks()

    def check(self) -> None:
        """Refuse to write if another machine has taken over, having seen no sign for too long."""
        if max(now - then for now, then in zip(clocks(), self.renewed, strict=True)) > STALE / 2:
            self.renew()
        if self.lost:
            raise LeaseLostError(
                f"{self.path.parent} must not be written by two processes, but this one gave no "
                f"sign for {STALE:.0f} seconds, and another has taken over; leave it to that one."
            )

    def moved(self, folder: Path) -> None:
        """Follow the folder to its new name."""
        self.path = folder / self.path.name


def clocks() -> tuple[float, float]:
    """The time by two clocks: one may be set back, and the other stop while a machine sleeps."""
    return time.time(), time.monotonic()


@contextmanager
def try_lease(lock: Path) -> Iterator[Lease | None]:
    """Hold `lock` among the processes of all machines; None, without waiting, if it is held.

    What a process of this machine held is free as soon as that ends, however it ends. What one of
    another machine held is free when it is released, or `STALE` seconds after its last sign.
    """
    with try_lock(lock) as held:
        lease = announced(lock) if held else None
        if lease is None:
            yield None
            return
        try:
            with beating(lease):
                yield lease
        finally:
            lease.path.unlink(missing_ok=True)


def announced(lock: Path) -> Lease | None:
    """Put up a file of one's own, then look for others; None if one of these may be alive."""
    lease = Lease(lock.with_name(f"{lock.name}.{'.'.join(myself())}.{token_hex(8)}"))
    with needing_space(lease.path):
        lease.path.touch(exist_ok=False)
    os.utime(lease.path)
    now = lease.path.stat().st_mtime  # by the clock of the file system, as for all others
    for path, owner in owners(lock):
        if path == lease.path:
            continue
        if not abandoned(path, owner, now):
            lease.path.unlink()
            return None
        path.unlink(missing_ok=True)
    return lease


def owners(lock: Path) -> Iterator[tuple[Path, Owner]]:
    """Those that hold a lock or try to, with their files."""
    for path in list(lock.parent.iterdir()):
        found = OWNER.fullmatch(path.name)
        if found and found["lock"] == lock.name:
            yield path, Owner(found["machine"], int(found["pid"]), found["start"])


def abandoned(path: Path, owner: Owner, now: float) -> bool:
    """Has an owner ended, or given no sign for too long?"""
    if owner.machine == machine():
        return owner.gone
    try:
        with path.open("rb") as file:  # opening makes network file systems ask the server
            return now - os.fstat(file.fileno()).st_mtime > STALE
    except FileNotFoundError:
        return True


@contextmanager
def beating(lease: Lease) -> Iterator[None]:
    """Renew a lease again and again."""
    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT) and not lease.lost:
            with suppress(OSError):  # a network that is away may come back
                lease.renew()

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def myself() -> tuple[str, str, str]:
    """The machine, the process and when it began."""
    return machine(), str(os.getpid()), start_of(os.getpid()) or "0"


@cache
def machine() -> str:
    """A name for the set of processes that this one can see: those of a container are its own."""
    name, seen = socket.gethostname(), []
    for source in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        with suppress(OSError):
            seen.append(os.readlink(source) if source.is_symlink() else source.read_text())
    digest = hashlib.sha256(repr((name, seen)).encode()).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9-]+', '-', name)[:40]}-{digest[:12]}"


def start_of(pid: int) -> str | None:
    """When a process of this machine began, in units of the system; None: it has ended.

    Where the system does not tell, all that are alive began at 0.
    """
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    if sys.platform == "win32":
        return None  # its locks hold among all processes of a machine
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "0"
