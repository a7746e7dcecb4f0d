"""How torchrun started this process, if it did."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What torchrun, and others like it, set in the environment of every process."""


@dataclass(frozen=True)
class Launch:
    """One of several processes that do the same; by default the only one.

    >>> facts = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "::1", "MASTER_PORT": "29500"}
    >>> launch = Launch.of(facts)
    >>> launch.processes, launch.rank, launch.host, launch.port
    (2, 1, '::1', 29500)
    """

    processes: int = 1
    rank: int = 0
    local_rank: int = 0
    """Among the processes of this machine."""
    machines: int = 1
    host: str = ""
    port: int = 0
    restarts: int = 0
    """How often torchrun has started all processes again."""
    max_restarts: int = 0
    keeps_store: bool = False
    """Does the store in which the processes find each other outlive a restart?"""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Launch":
        """Read what torchrun set."""
        if any(name not in environment for name in NEEDED):
            return cls()
        return cls(
            processes=int(environment["WORLD_SIZE"]),
            rank=int(environment["RANK"]),
            local_rank=int(environment.get("LOCAL_RANK", "0")),
            machines=int(environment.get("GROUP_WORLD_SIZE", "1")),
            host=environment["MASTER_ADDR"],
            port=int(environment["MASTER_PORT"]),
            restarts=int(environment.get("TORCHELASTIC_RESTART_COUNT", "0")),
            max_restarts=int(environment.get("TORCHELASTIC_MAX_RESTARTS", "0")),
            keeps_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
        )

    @classmethod
    def here(cls) -> "Launch":
        """That of this process."""
        return cls.of(os.environ)

    @property
    def speaks(self) -> bool:
        """Is this the process that shows something?"""
        return self.rank == 0
