"""The options that say where to compute."""

from typing import Annotated

import torch
import typer

from ..training.device import available

Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps, ...")]
Threads = Annotated[int, typer.Option(min=1, help="More of them help large networks only.")]


def set_up(device: str, threads: int) -> str:
    """Check that the device is there, and set the number of threads."""
    torch.set_num_threads(threads)
    return available(device)
