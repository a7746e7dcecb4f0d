"""What `beamlearn export` does."""

from pathlib import Path

from rich.console import Console

from ...data import atomic
from ...tasks.decoding_width import default_width
from ...tasks.loading import load
from ...tasks.task import ExportableModel
from ...training.choices import Policy
from ...training.settings import SettingsError
from ..console import say
from .setup import set_up


def export(run: Path, out: Path, *, policy: Policy, device: str) -> None:
    """Write the model of a run as another library reads it."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise SettingsError(f"OUT must be new or empty, but {out} is there; choose another one.")
    set_up(device, threads=1)
    model, experiment = load(run, device, policy)
    if policy == "mixture" or not isinstance(model, ExportableModel):
        what = "a mixture" if policy == "mixture" else f"a {experiment.group} of its own kind"
        raise SettingsError(
            f"A model can be exported if it was made from a Hugging Face model and has one set of "
            f"weights, but {run} holds {what}; use it with `beamlearn predict`."
        )
    try:
        model.export(out, default_width(run, experiment.learning, policy))
    except atomic.DiskFullError:
        raise
    except OSError as error:
        raise SettingsError(
            f"OUT must be one that can be written, but the system says: {error}; choose "
            "another one."
        ) from None
    say(Console(stderr=True), f"The model is in {out}, as transformers loads it.")
