"""How the command line is called here."""

import shutil
import sys
from pathlib import Path

NAME = "beamlearn"


def program() -> str:
    """The command to suggest: its name, or its path where the shell would not find it by name.

    >>> program()
    'beamlearn'
    """
    called = sys.argv[0]
    if shutil.which(NAME) is None and Path(called).name == NAME:
        return called
    return NAME
