"""What another machine needs of a run: its model, and no path of this one."""

from pathlib import Path
from typing import Any

from .folder import CONFIG, DECODING, MODEL, VOCABULARY, VOCABULARY_DIGEST, Run
from .records import to_json

PORTABLE = (CONFIG, VOCABULARY, MODEL, DECODING)
"""The files that `predict` needs of the best model; the last one need not be there."""


def portable_files(path: str | Path) -> dict[str, bytes]:
    """The files of the best model by their names; files and folders are named without their paths.

    Logs, checkpoints and other policies stay behind.
    """
    run = Run.open(path)
    run.load_model()  # refuses a damaged one, or says why there is none
    digest = {} if run.digest is None else {VOCABULARY_DIGEST: run.digest}
    config = {**without_paths(run.config), **digest}
    files = {CONFIG: to_json(config, run.path / CONFIG, indent=2)}
    found = (run.path / name for name in PORTABLE if name != CONFIG)
    return files | {file.name: file.read_bytes() for file in found if file.exists()}


def without_paths(value: Any) -> Any:
    r"""A JSON value with the last part in place of every path.

    >>> without_paths({"train": "/home/ann/train.conllu", "dev": "data\\dev.tsv", "width": 8})
    {'train': 'train.conllu', 'dev': 'dev.tsv', 'width': 8}
    """
    if isinstance(value, dict):
        return {name: without_paths(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_paths(inner) for inner in value]
    return value.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_path(value) else value


def is_path(value: Any) -> bool:
    """Does a setting name a file or a folder by its path? Names of repositories stay."""
    return isinstance(value, str) and not value.startswith("hub:") and bool({"/", "\\"} & {*value})
