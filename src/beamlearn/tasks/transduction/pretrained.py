"""Models of other libraries, which are loaded only where a setting asks for one."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ...training.settings import SettingsError
from .settings import TransducerSettings
from .transduction_model import TransductionModel

MODULE = "beamlearn.hf.transducer"
"""It knows transformers, and makes models of it. Nothing here depends on it."""


def adapted(settings: TransducerSettings, device: str) -> TransductionModel | None:
    """The model in the folder that the settings name; None if they name none."""
    if not settings.pretrained:
        return None
    model: TransductionModel = _module().adapted(settings, device)
    return model


def rebuilt(
    settings: TransducerSettings, vocabulary: Mapping[str, Any], device: str
) -> TransductionModel | None:
    """The same from what a run folder keeps of it, before its weights are loaded."""
    if not settings.pretrained:
        return None
    model: TransductionModel = _module().rebuilt(settings, vocabulary, device)
    return model


def _module() -> Any:
    try:
        return import_module(MODULE)
    except ImportError as error:
        raise SettingsError(f"`hf`: {error}") from error
