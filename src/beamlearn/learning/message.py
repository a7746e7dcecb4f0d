"""Messages between processes: tensors of any type beside a note, in bytes, without pickle."""

import json
from collections.abc import Mapping
from typing import Any

import safetensors.torch
from torch import Tensor

from ..data.tensors import own

LENGTH = 8
"""The bytes that say how long the note is."""


def pack(tensors: Mapping[str, Tensor], note: Any = None) -> bytes:
    """Put tensors and a note, which is JSON, into bytes."""
    owned = {name: own(tensor) for name, tensor in tensors.items()}
    text = json.dumps(note).encode()
    return len(text).to_bytes(LENGTH, "big") + text + safetensors.torch.save(owned)


def unpack(message: bytes) -> tuple[dict[str, Tensor], Any]:
    """Undo `pack`; the tensors are on the CPU, in memory of their own."""
    end = LENGTH + int.from_bytes(message[:LENGTH], "big")
    tensors = safetensors.torch.load(message[end:])
    return {name: own(tensor) for name, tensor in tensors.items()}, json.loads(message[LENGTH:end])
