"""What a command may say when it fails: a sentence for people, and nothing of Python."""

import re

from .workshop import Outcome

PYTHON = re.compile(r"Traceback|^\s*(?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b: ", re.MULTILINE)
"""A traceback, or the bare name of an exception in place of a sentence."""
LONGEST = 4_000


def fault(outcome: Outcome) -> str | None:
    """What is wrong with how a command ended; None if it worked or said in a sentence why not."""
    said = outcome.err.strip()
    if outcome.hung:
        return f"it hung: {said[-200:]}"
    if outcome.status < 0:
        return f"signal {-outcome.status} ended it: {said[-200:]}"
    if PYTHON.search(said):
        return f"not a sentence: {said[-400:]}"
    if outcome.status == 0:
        return None
    if outcome.status not in (1, 2):
        return f"status {outcome.status}: {said[-200:]}"
    if not said.rstrip("│╰─╯ \n").endswith((".", ")")):
        return f"no sentence: {said[-200:]!r}"
    return f"{len(said)} characters: {said[:200]}" if len(said) > LONGEST else None
