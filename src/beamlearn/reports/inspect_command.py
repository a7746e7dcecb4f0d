"""The command that shows the search of one input."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from .inspector.request import WIDEST


@final
@dataclass(frozen=True)
class InspectCommand:
    """The command for the inputs of a file that a run was tested on.

    >>> InspectCommand("runs/pos", "my test.conllu", {"column": "2"}).at(6, width=8)
    "beamlearn inspect runs/pos 'my test.conllu' --sentence 7 --width 8 --column 2"
    """

    run: str
    file: str
    options: Mapping[str, str] = field(default_factory=dict)
    """How the file was read, and which weights were used."""
    program: str = "beamlearn"

    def at(self, place: int, width: int) -> str:
        """The command for the input at a place, from 0, with a beam as wide as pages allow."""
        words = [self.program, "inspect", self.run, self.file, "--sentence", str(place + 1)]
        words += ["--width", str(min(width, WIDEST))]
        for name, value in self.options.items():
            words += [f"--{name}", value]
        return shlex.join(words)
