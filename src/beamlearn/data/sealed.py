"""A safetensors file with a note and a digest: what is read is what was written, or an error."""

from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from .tensors import digest, own

SEAL = "beamlearn"
"""The one entry of the metadata, "<digest> <note>"; two would be written in random order, and
equal tensors would not give equal files."""


class DamagedError(ValueError):
    """A file that is not what was written; the message is the reason, to be put in brackets."""


def seal(tensors: Mapping[str, Tensor], note: str = "") -> bytes:
    """Put tensors of any device, layout and sharing into the bytes of a safetensors file."""
    owned = {name: own(tensor) for name, tensor in tensors.items()}
    return safetensors.torch.save(owned, {SEAL: f"{digest(owned, note)} {note}"})


def unseal(path: Path) -> tuple[dict[str, Tensor], str]:
    """Read the tensors, on the CPU and in memory of their own, and the note."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata: dict[str, str] = file.metadata() or {}
            mapped = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no iterator)
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError) as error:
        raise DamagedError(f"it cannot be read: {error}") from error
    if SEAL not in metadata:
        raise DamagedError("it carries no digest")
    written, _, note = metadata[SEAL].partition(" ")
    if written != digest(mapped, note):
        raise DamagedError("its digest does not match its contents")
    return {name: own(tensor) for name, tensor in mapped.items()}, note
