"""Upload a run to a repository."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from ..training.run import RunError
from .client import answering, endpoint, package
from .name import Repository
from .staging import CARD, stage


def push(
    run: Path,
    repository: Repository,
    *,
    private: bool,
    replace_card: bool,
    say: Callable[[str], None],
) -> str:
    """Upload the model of a run and its card; return the address of the repository.

    A card that is in the repository already stays, as its owner may have changed it.
    """
    hub = package()
    api = hub.HfApi(endpoint=endpoint(), library_name="beamlearn")
    with TemporaryDirectory() as name:
        folder = Path(name) / "staged"
        stage(run, repository, folder)
        with answering(repository.name):
            address = api.create_repo(repository.name, private=private or None, exist_ok=True)
            if private and not api.repo_info(repository.name).private:
                raise RunError(
                    f"`private` needs a repository that is private or new, but {repository.name} "
                    "is public; make it private in its settings, or give another name."
                )
            if not replace_card and api.file_exists(repository.name, CARD):
                (folder / CARD).unlink()
                say(f"The card in {repository.name} stays; --replace-card writes a new one.")
            api.upload_folder(
                repo_id=repository.name,
                folder_path=folder,
                commit_message=f"Upload a run of beamlearn {version('beamlearn')}",
            )
    return str(address)
