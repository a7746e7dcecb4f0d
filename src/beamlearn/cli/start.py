"""The first thing that the command line does: load the commands, which takes a moment."""

import sys

INTERRUPTED = 130
"""The exit status of programs that Ctrl-C ends."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; Ctrl-C ends it without a traceback, even while it is being loaded."""
    try:
        from .main import main as run

        run(arguments)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
