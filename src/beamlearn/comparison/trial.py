"""Trials: whether an entry that came to nothing is tried again, and when."""

from dataclasses import dataclass, replace
from random import uniform

from ..check import UsageError
from ..engines.lost import is_lost
from ..plural import counted
from ..training.run import BusyError

LOSSES = 5
"""How many workers an entry may lose before it has failed."""
PATIENCE = 24 * 3600.0
"""For how many seconds an entry waits for another process that trains it."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Between two trials, in seconds: it doubles from one to the next."""


class LostEntryError(UsageError):
    """An entry whose workers are lost again and again."""


@dataclass(frozen=True)
class Trial:
    """How often an entry was tried, and when it is to be tried next."""

    due: float = 0.0
    pauses: int = 0
    lost: int = 0
    """How many workers it has lost."""
    deadline: float | None = None
    """Until when it waits for another process, if there is one."""

    def again(self, error: BaseException, now: float) -> "Trial | BaseException":
        """The next trial after an error, or the error if it is final.

        A worker that was lost is no fault of the entry, unless it happens `LOSSES` times. A folder
        in which another process trains is looked at again until that is done.
        """
        later = replace(self, due=now + self.pause(), pauses=self.pauses + 1)
        if isinstance(error, BusyError):
            deadline = now + PATIENCE if self.deadline is None else self.deadline
            return replace(later, deadline=deadline) if now < deadline else error
        if not is_lost(error):
            return error
        if self.lost + 1 < LOSSES:
            return replace(later, lost=self.lost + 1)
        return LostEntryError(
            "A training must end with a result, but its process was lost "
            f"{counted(LOSSES, 'time')} (the last time: {error}); look for what ends it, such as a "
            "limit of memory or time, and compare again."
        )

    def pause(self) -> float:
        """How long to wait; not the same for all, so that two do not meet again and again."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self.pauses, 20))
        return uniform(longest / 2, longest)
