"""Inspect a search: its hypotheses, the one that won, and where the best one was dropped."""

from .ask import Ask as Ask
from .ask import AskError as AskError
from .inspected import Case as Case
from .inspected import Inspected as Inspected
from .inspected import case as case
from .look import Look as Look
from .look import look as look
