"""Limits: what a server takes, how much of it at a time, and how long."""

from dataclasses import dataclass, fields
from typing import final

from ..check import UsageError


@final
@dataclass(frozen=True)
class Limits:
    """All of them; each is an option of `beamlearn serve`."""

    max_batch: int = 32
    """The most inputs that are searched together."""
    wait_ms: float = 5.0
    """How long the first input of a batch waits for others, in milliseconds."""
    max_bytes: int = 1 << 20
    """The largest body of a request."""
    max_inputs: int = 128
    """The most inputs of a request."""
    max_length: int = 5_000
    """The most characters of an input."""
    max_width: int = 64
    """The widest beam, and the longest n-best list."""
    max_waiting: int = 512
    """The most inputs that wait or are searched; further requests are turned away."""
    timeout: float = 30.0
    """How long a request may take, in seconds."""

    def __post_init__(self) -> None:
        least_of = {"wait_ms": 0, "timeout": 0.001}
        for field in fields(self):
            value, least = getattr(self, field.name), least_of.get(field.name, 1)
            if not least <= value < float("inf"):
                raise UsageError(
                    f"`{field.name}` must be at least {least}, got {value}; leave it out for "
                    f"{field.default}."
                )
        if self.max_waiting < self.max_inputs:
            raise UsageError(
                f"`max_waiting` must be at least `max_inputs`, {self.max_inputs}, got "
                f"{self.max_waiting}; a full request would always be turned away."
            )
