"""The options that say where to compute."""

from typing import Annotated

import torch
import typer

from ..device import available

Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps, ...")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="How many threads to use.", show_default="all cores")
]


def set_up(device: str, threads: int | None) -> str:
    """Check that the device is there, and set the number of threads."""
    if threads is not None:
        torch.set_num_threads(threads)
    return available(device)
