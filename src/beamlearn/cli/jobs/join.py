"""What `beamlearn join` does."""

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from ...plural import counted
from ...prediction import joining
from ..console import say


def join(output: Path, parts: Sequence[Path]) -> None:
    """Put parts together, and say so."""
    given = [path for path in parts if path.suffix != ".journal"]  # a pattern may match them, too
    found = joining.join(Path(os.path.realpath(output)), given)
    say(
        Console(stderr=True),
        f"{counted(len(found), 'part')} are joined in {output}, and can be removed.",
    )
