"""Replace a run by another one, so that a process killed in between loses neither."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .folder import CONFIG, LOCK, OWN, VOCABULARY, locked
from .records import RunError, read_json


@contextmanager
def replacing(path: str | Path) -> Iterator[None]:
    """Set the run in a folder aside while another is begun there, and then delete it.

    If that fails, the old run comes back. A process that is killed leaves it whole, beside the
    folder, as NAME.replaced.
    """
    path = Path(path).resolve()
    aside = path.with_name(f"{path.name}.replaced")
    check_replaceable(path, aside)
    with locked(path) as lease:
        path.rename(aside)
        lease.moved(aside)
    try:
        yield
    except BaseException:
        if path.exists():  # what was begun there
            shutil.rmtree(path)
        aside.rename(path)
        raise
    shutil.rmtree(aside)


def check_replaceable(path: Path, aside: Path) -> None:
    """Refuse a folder that is not a run and nothing else, as all of it is deleted."""
    if aside.exists():
        raise RunError(
            f"{aside} must not exist, as the run in {path} is set aside there while another is "
            "begun; it may be a run that was being replaced when the process was killed: rename it "
            "to keep it, or delete it."
        )
    task = read_json(path / CONFIG).get("task") if (path / CONFIG).is_file() else None
    if task is None or not (path / VOCABULARY).is_file():
        raise RunError(
            f"{path} must be a run folder if it is to be replaced, but {CONFIG} or {VOCABULARY} of "
            "a run is not in it; choose another folder.",
            "out",
        )
    found = {one.name for one in path.iterdir() if not one.name.startswith(f"{LOCK}.")}
    if others := sorted(found - OWN):
        raise RunError(
            f"{path} must hold nothing but a run if it is to be replaced, got {others[0]}; move "
            "that elsewhere, or choose another folder.",
            "out",
        )


def left_aside(path: str | Path) -> Path | None:
    """Where the old run of a folder is, if a process was killed while it replaced it."""
    path = Path(path).resolve()
    aside = path.with_name(f"{path.name}.replaced")
    return aside if (aside / CONFIG).is_file() else None
