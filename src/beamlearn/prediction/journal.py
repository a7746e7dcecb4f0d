"""The journal of a run of `predict`: what it answers, and how far it is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..check import UsageError
from ..data import atomic
from ..data.windows import START, Mark

Identity = Mapping[str, Any]
"""What the answers depend on, by name: the input, the model and the options."""
BEGAN_WITH = {
    "input": "INPUT must be the file that the run began with, but it has changed since",
    "model": "RUN must hold the model that the run began with, but it has changed since",
    "version": "beamlearn must be of the version that the run began with, but it is another one",
}
"""What to say if something else than an option differs."""


class ResumeError(UsageError):
    """A run that cannot be gone on with, or parts that do not fit together."""


@dataclass(frozen=True)
class Done:
    """How far a run is."""

    mark: Mark = START
    """The place in the input before which everything is answered."""
    output: int = 0
    """The bytes of the output."""
    bad: int = 0
    """The bytes of the file of bad sentences."""
    skipped: int = 0
    """The number of bad sentences."""
    refused: int = 0
    """The number of sentences that are too long to be answered."""


BEGUN = Done()
"""A run that has answered nothing yet."""


@dataclass(frozen=True)
class Journal:
    """What stands beside an output that is being written."""

    identity: Identity
    done: Done = BEGUN
    finished: bool = False

    def write(self, path: Path) -> None:
        """Replace the journal at `path`."""
        atomic.write_bytes(path, (json.dumps(asdict(self), indent=1) + "\n").encode())

    def differs(self, identity: Identity) -> str | None:
        """What is not as it was in another run, in words; None: nothing."""
        for name, value in identity.items():
            before = self.identity.get(name)
            if before != value:
                option = f"`{name}` must be {shown(before)}, as the run began with it, got "
                return BEGAN_WITH.get(name, option + shown(value))
        return None


def read_journal(path: Path) -> Journal | None:
    """The journal at `path`, if there is one."""
    try:
        found = json.loads(path.read_bytes())
        done = Done(**{**found["done"], "mark": Mark(**found["done"]["mark"])})
        return Journal(found["identity"], done, found["finished"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ResumeError(
            f"{path}: A journal of `beamlearn predict` was expected here, but this is none "
            f"({error}); remove the file."
        ) from error


def journal_of(path: Path) -> Path:
    """The name of the journal of an output."""
    return path.with_name(f"{path.name}.journal")


def shown(value: object) -> str:
    """A value of an option, as it was given."""
    return "left out" if value is None else str(value)
