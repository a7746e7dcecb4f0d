"""Real data sets, which are not part of the repository."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data"


def shared(name):
    """The path of a shared data file; the test is skipped where it is not there."""
    path = Path(os.environ.get("BEAMLEARN_DATA", FOLDER)) / name
    if not path.exists():
        pytest.skip(f"needs {name} of the shared data; set BEAMLEARN_DATA to its folder")
    return path
