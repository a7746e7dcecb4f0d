"""What is pushed of a run: its model and a card, in which nothing tells of this machine."""

import tempfile
from pathlib import Path

from ..data import atomic
from ..training.run import MODEL, Run, RunError, portable_files
from .card import card_of
from .download import check_no_code
from .name import Repository

CARD = "README.md"
LEAST = 2
"""How many parts a path has at least that says something of a machine."""


def stage(run: Path, repository: Repository, folder: Path) -> list[str]:
    """Write the files that are pushed into a folder; return their names."""
    check_no_code(Run.open(run), str(run))
    files = portable_files(run)
    atomic.make_folder(folder)
    for name, data in files.items():
        atomic.write_bytes(folder / name, data)
    # The card is made of what is pushed, so that it cannot say more.
    files[CARD] = card_of(folder, run, repository.name).encode()
    check_private(files, run)
    atomic.write_bytes(folder / CARD, files[CARD])
    return sorted(files)


def check_private(files: dict[str, bytes], run: Path) -> None:
    """Refuse to push a path of this machine."""
    own = {Path.home(), Path.cwd(), run.resolve().parent, Path(tempfile.gettempdir())}
    for name, data in files.items():
        for path in own if name != MODEL else ():
            if len(path.parts) > LEAST and str(path).encode() in data:
                raise RunError(
                    f"What is pushed must not tell of this machine, but {name} holds the path "
                    f"{path}; train again from another folder."
                )
