"""Where answers go: to standard output as they come, or to a file that may be gone on with."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import final

from ..data import atomic
from ..data.growing_file import GrowingFile, writing
from ..data.windows import Mark
from .answerer import Answer
from .journal import BEGUN, Done, Identity, Journal, ResumeError, journal_of

SECONDS = 0.5
"""The least time between two entries of the journal."""


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes from writing the same output meanwhile."""
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as held:
        with writing(path):
            free = held.enter_context(atomic.try_lock(lock))
        if not free:
            raise ResumeError(
                f"{path}: Only one process may write a file, but another one is writing this; wait "
                "until it ends, or choose another `output`."
            )
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


class Output(ABC):
    """What takes answers, in order."""

    done: Done

    def __init__(self, bad: Path | None, done: Done = BEGUN) -> None:
        self.done = done
        self.bad = None if bad is None else GrowingFile(bad, done.bad)

    def take(self, answer: Answer, end: Mark) -> None:
        """Write the answer to a window that ends there."""
        put_aside = b"".join(sentence.written() for sentence in answer.bad)
        if self.bad is not None:
            self.bad.append(put_aside)
        self.done = replace(
            self.done,
            mark=end,
            bad=self.done.bad + len(put_aside),
            skipped=self.done.skipped + len(answer.bad),
            refused=self.done.refused + len(answer.refused),
        )
        self.write(answer.text)

    @abstractmethod
    def write(self, text: str) -> None:
        """Write what was predicted."""

    def finish(self) -> None:
        """End it, as everything is answered."""
        if self.bad is not None:
            self.bad.finish()

    def abandon(self) -> bool:
        """End it too early; is there something to go on with?"""
        if self.bad is not None:
            self.bad.close(keep=False)
        return False


@final
class Printed(Output):
    """Answers that are gone once they are written."""

    def __init__(self, bad: Path | None, put: Callable[[str], object]) -> None:
        super().__init__(bad)
        self.put = put

    def write(self, text: str) -> None:
        self.put(text)


@final
class Saved(Output):
    """Answers in a file that is whole or not there; a journal tells how far a run is."""

    def __init__(
        self,
        path: Path,
        bad: Path | None,
        identity: Identity | None,
        done: Done = BEGUN,
        keep_journal: bool = False,
    ) -> None:
        self.journal = journal_of(path)
        self.identity, self.keep_journal = identity, keep_journal
        self.last, self.begun = monotonic(), done.output > 0
        if not self.begun:  # a journal that is left is of a file that is whole
            with writing(path):
                self.journal.unlink(missing_ok=True)
        super().__init__(bad, done)
        self.file = GrowingFile(path, done.output)

    def write(self, text: str) -> None:
        data = text.encode("utf-8")
        self.file.append(data)
        self.done = replace(self.done, output=self.done.output + len(data))
        if monotonic() - self.last >= SECONDS:
            self.save()

    def save(self, finished: bool = False) -> None:
        """Bring everything to the disk, and then the journal that says so."""
        if self.identity is None:  # nobody can go on with what cannot be read again
            return
        for file in (self.file, self.bad):
            if file is not None:
                file.saved()
        Journal(self.identity, self.done, finished).write(self.journal)
        self.last, self.begun = monotonic(), True

    def finish(self) -> None:
        self.save(finished=True)
        super().finish()
        self.file.finish()
        if not self.keep_journal:
            self.journal.unlink(missing_ok=True)

    def abandon(self) -> bool:
        if self.begun and not self.file.closed:  # else it was whole, and only lacks its name
            self.save()
        for file in (self.file, self.bad):
            if file is not None:
                file.close(keep=self.begun)
        return self.begun
