"""Where to compute."""

import torch

from .settings import SettingsError


def available(device: str) -> str:
    """Refuse a device that is not there."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise SettingsError(
            f"`device` must be one that PyTorch has here, got {device!r}; use cpu."
        ) from None
    return device
