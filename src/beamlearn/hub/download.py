"""Runs by the names of their repositories: downloaded once, then read like others."""

from pathlib import Path

from ..check import quoted
from ..training.run import CONFIG, PORTABLE, Run, RunError
from .client import answering, endpoint, package
from .name import Repository, is_named


def run_folder(path: str | Path) -> Path:
    """The folder of a run; one that is `hub:USER/NAME` is downloaded, or found in the cache.

    Only the files of a model are downloaded, and none of them holds code: JSON and safetensors.
    """
    if not is_named(path):
        return Path(path)
    repository, hub = Repository.read(str(path)), package()
    with answering(repository.name):
        found = hub.snapshot_download(
            repository.name,
            revision=repository.revision,
            allow_patterns=list(PORTABLE),
            library_name="beamlearn",
            endpoint=endpoint(),
        )
    folder = Path(found)
    if not (folder / CONFIG).is_file():
        raise RunError(
            f"The repository {repository.name} must hold a run, but there is no {CONFIG} in it; "
            "give one that `beamlearn push` wrote."
        )
    check_no_code(Run.open(folder), str(path))
    return folder


def check_no_code(run: Run, name: str) -> None:
    """Refuse a run whose cost is a function of its own: other machines would look for its code."""
    group = run.config.get("transducer")
    cost = group.get("cost") if isinstance(group, dict) else None
    if isinstance(cost, str) and cost.count(":") > 1:
        raise RunError(
            f"A run in a repository must come without code, but {name} learned the cost "
            f"{quoted(cost)}, which is a function of its own; train with another cost."
        )
