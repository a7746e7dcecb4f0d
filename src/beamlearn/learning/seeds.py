"""Random seeds that depend on a position, not on what was drawn before."""

from hashlib import blake2b

import torch
from torch import nn


def seed_of(seed: int, what: str, position: int) -> int:
    """Derive the seed of a random generator from `seed`, its purpose and a position."""
    digest = blake2b(f"{seed}/{what}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def seeded_devices(model: nn.Module) -> tuple[str, list[int]]:
    """The accelerators, by kind and number, whose random state `torch.manual_seed` changes."""
    kinds = {parameter.device.type for parameter in model.parameters()} - {"cpu"}
    kind = min(kinds, default="cuda")
    return kind, list(range(torch.get_device_module(kind).device_count()))
