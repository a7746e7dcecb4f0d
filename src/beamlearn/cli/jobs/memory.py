"""How much memory is free, as far as the system tells."""

from contextlib import suppress
from pathlib import Path

GROUP = Path("/sys/fs/cgroup")
"""Where Linux says what a container may use."""


def free_memory(system: Path = Path("/proc/meminfo"), group: Path = GROUP) -> int | None:
    """How many bytes can be used without swapping; None: the system does not tell."""
    found: list[int] = []
    with suppress(OSError, ValueError, KeyError):
        lines = dict(line.split(":") for line in system.read_text().splitlines())
        found.append(1024 * int(lines["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):  # without a limit, there is the word "max"
        limit, used = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        found.append(int(limit) - int(used))
    return max(0, min(found)) if found else None
