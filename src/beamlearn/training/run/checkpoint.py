"""Checkpoints: the state of a training between two rounds, in a folder of the two newest."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from ...data import atomic
from ...data.sealed import DamagedError, seal, unseal
from .records import RunError, parse, to_json

KEPT = 2
"""The newest, and the one before it should the newest be damaged."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training after a round."""

    round: int
    tensors: dict[str, Tensor]
    facts: dict[str, Any]
    """Position, best cost, counters: plain JSON, so finite numbers, names as strings, no tuples."""


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, then delete all but the newest.

    Those of later rounds were passed over when the training went back to an earlier one; they are
    deleted too.
    """
    path = folder / f"round-{checkpoint.round:08d}.safetensors"
    note = to_json({"round": checkpoint.round, "facts": checkpoint.facts}, path).decode()
    atomic.make_folder(folder)
    atomic.write_bytes(path, seal(checkpoint.tensors, note))
    found = files(folder)
    kept = [number for number in found if number <= checkpoint.round][:KEPT]
    for number in found.keys() - kept:
        found[number].unlink(missing_ok=True)


def latest(folder: Path, report: Callable[[str], None]) -> Checkpoint | None:
    """Read the newest checkpoint that is whole; `report` hears of each one passed over."""
    found = files(folder)
    older = list(found)
    for number, path in found.items():
        older.remove(number)
        try:
            return read(path, number)
        except (DamagedError, OSError) as error:
            if not older:
                raise RunError(
                    f"No checkpoint in {folder} can be used, not even {path.name} ({error}); "
                    "restore it from a copy, or train in another folder.",
                    "out",
                ) from error
            report(f"{path} cannot be used ({error}); going back to round {older[0]} instead.")
    return None


def files(folder: Path) -> dict[int, Path]:
    """The checkpoint files by round, newest first."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if match := re.fullmatch(r"round-(\d{8,})\.safetensors", path.name):
            found[int(match[1])] = path
    return dict(sorted(found.items(), reverse=True))


def read(path: Path, round: int) -> Checkpoint:
    """Read the checkpoint of a round."""
    tensors, note = unseal(path)
    state = parse(note.encode()) if note else {}
    if state.get("round") != round:
        raise DamagedError(f"it is not the checkpoint of round {round}")
    return Checkpoint(round, tensors, state["facts"])
