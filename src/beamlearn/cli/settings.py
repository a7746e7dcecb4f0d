"""Settings of a command: those of a TOML file, and over them those of the command line."""

from pathlib import Path
from typing import Any

from ..training.settings import SettingsError, read_toml
from .options import Given


def settings(config: Path | None, given: Given, warm_start: str | None) -> dict[str, Any]:
    """All of them by group; the paths of data files are made absolute."""
    values: dict[str, Any] = {"data": {}, **({} if config is None else read_toml(config))}
    for group, options in given.items():
        under = values.get(group, {})
        if not isinstance(under, dict):
            raise SettingsError(f"{config}: `{group}` must be a table, got {under!r}.")
        if options:
            values[group] = {**under, **options}
    for name in ("train", "dev"):
        path = values["data"].get(name)
        if isinstance(path, str) and path != "-":
            values["data"][name] = str(Path(path).absolute())
    return {**values, **({} if warm_start is None else {"warm_start": warm_start})}


def check_free(out: Path, sign: str, what: str) -> None:
    """Refuse a folder that holds something else: what reads it could not know which is meant."""
    if (out / sign).exists():
        raise SettingsError(
            f"`out` must be a folder of its own, but {out} holds {what}; choose another one."
        )
