"""What `beamlearn push` does."""

from functools import partial
from pathlib import Path

from rich.console import Console

from ...hub import push as hub
from ...hub.name import PREFIX, Repository
from ...hub.staging import CARD, stage
from ...training.settings import SettingsError
from ..console import say
from ..program import program


def push(run: Path, repo: str, *, private: bool, replace_card: bool, dry_run: Path | None) -> None:
    """Upload a run, or write what would be uploaded."""
    console = Console(stderr=True)
    repository = Repository.read(repo)
    if repository.revision is not None:
        raise SettingsError(f"A run is pushed to the newest revision, got {repo}; leave out the @.")
    if dry_run is not None:
        check_new(dry_run)
        names = stage(run, repository, dry_run)
        say(console, f"Nothing was uploaded. In {dry_run} is what would be: {', '.join(names)}.")
        return
    address = hub.push(
        run, repository, private=private, replace_card=replace_card, say=partial(say, console)
    )
    say(console, f"The model is at {address}. The license in its {CARD} is for you to fill in.")
    say(console, f"Next: {program()} predict {PREFIX}{repository.name} FILE")


def check_new(folder: Path) -> None:
    """Refuse a folder with something in it."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise SettingsError(
            f"`dry_run` must be a folder that is new or empty, but {folder} is there; choose "
            "another one."
        )
