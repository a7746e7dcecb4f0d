"""`beamlearn export`."""

from pathlib import Path
from typing import Annotated

import typer

from .shared_options import Device, PolicyName, RunFolder, policy_of


def export(
    run: RunFolder,
    out: Annotated[Path, typer.Argument(help="New folder to write.")],
    policy: PolicyName = None,
    device: Device = "cpu",
) -> None:
    """Write a fine-tuned Hugging Face model as one that transformers loads.

    The folder holds weights, configuration and tokenizer. `generate` then searches with the width
    that the model is decoded with here.

    [bold]Examples[/bold]

    beamlearn export runs/t5 models/t5-tuned
    """
    from .jobs import export as job  # loads torch

    job.export(run, out, policy=policy_of(policy, mixture=False), device=device)
