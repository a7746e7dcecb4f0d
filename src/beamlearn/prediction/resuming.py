"""Going on with a run that was killed: what it left behind, and whether it is the same run."""

from pathlib import Path

from ..data.growing_file import finish, partial_of
from ..plural import counted
from .journal import BEGUN, Done, Identity, Journal, ResumeError, journal_of, read_journal


def left_behind(path: Path, bad: Path | None, identity: Identity, resume: bool) -> Done | None:
    """How far an earlier run of the same job is; None: it is finished.

    Only whoever asks to `resume` goes on, and nobody else replaces what could be gone on with. A
    file without a journal may be of any job, so it is no reason not to begin.
    """
    journal = read_journal(journal_of(path))
    if journal is None:
        return BEGUN
    if not resume:
        check_replaceable(path, journal)
        return BEGUN
    wrong = journal.differs(identity)
    if journal.finished:
        here = path.exists() or partial_of(path).exists()
        if wrong or not here:
            return BEGUN
        complete(path, bad)
        return None
    if wrong:
        raise ResumeError(
            f"{wrong}; to begin again, remove {journal_of(path)} and leave out `resume`."
        )
    check_partial(path, journal.done.output)
    check_bad(bad, journal.done)
    return journal.done


def check_replaceable(path: Path, journal: Journal) -> None:
    """Refuse to begin where another run can be gone on with."""
    if not journal.finished:
        raise ResumeError(
            f"{path}: Nothing that can be gone on with is replaced, but {partial_of(path).name} "
            f"holds the answers of a run that did not finish, up to sentence "
            f"{journal.done.mark.sentence:,}; give `resume` to go on, or remove "
            f"{journal_of(path).name} to begin again."
        )


def check_partial(path: Path, size: int) -> None:
    """Refuse to go on with less than the journal tells."""
    partial = partial_of(path)
    found = partial.stat().st_size if partial.exists() else 0
    if found < size:
        raise ResumeError(
            f"{partial}: This file must have at least {size:,} bytes, as its journal says, got "
            f"{found:,}; to begin again, remove {journal_of(path).name} and leave out `resume`."
        )


def check_bad(bad: Path | None, done: Done) -> None:
    """Refuse to go on without the sentences that were put aside."""
    if bad is not None:
        check_partial(bad, done.bad)
    elif done.skipped:
        raise ResumeError(
            f"`skip_bad` must be given again, as {counted(done.skipped, 'sentence')} of this run "
            "stand in its file, got none."
        )


def complete(path: Path, bad: Path | None) -> None:
    """Do what a finished run may have been killed before."""
    for file in (bad, path):
        if file is not None and partial_of(file).exists():
            finish(file)
