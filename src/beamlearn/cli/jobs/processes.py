"""The processes that torchrun started, as a group of torch.distributed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed import (  # type: ignore[attr-defined]  # torch does not mark them as its own
    PrefixStore,
    TCPStore,
)

from ...learning.ranks import meeting
from ...training.settings import SettingsError
from ..torchrun import Launch

PATIENCE = timedelta(hours=2)
"""How long a process waits for another one, which may have a long file to read."""


@contextmanager
def joined(launch: Launch, device: str) -> "Iterator[dist.ProcessGroup | None]":
    """Meet the other processes; None, and torch.distributed is left alone, if there are none."""
    if launch.processes == 1:
        yield None
        return
    check_store(launch)
    on_gpu = torch.device(device).type == "cuda"
    if on_gpu:
        torch.cuda.set_device(launch.local_rank)
    with meeting():
        dist.init_process_group(
            "nccl" if on_gpu else "gloo",
            store=store_of(launch),
            rank=launch.rank,
            world_size=launch.processes,
            timeout=PATIENCE,
        )
    try:
        yield dist.group.WORLD
    finally:
        dist.destroy_process_group()


def store_of(launch: Launch) -> PrefixStore:
    """Where the processes find each other.

    A store that outlives restarts still knows the addresses of processes that are gone, so each
    start has names of its own in it.
    """
    hosting = launch.rank == 0 and not launch.keeps_store
    store = TCPStore(
        launch.host, launch.port, launch.processes, is_master=hosting, multi_tenant=True
    )
    return PrefixStore(f"beamlearn/{launch.restarts}", store)


def check_store(launch: Launch) -> None:
    """Refuse a store in which processes of several machines would look for those that are gone."""
    if launch.keeps_store and launch.machines > 1 and launch.max_restarts > 0:
        raise SettingsError(
            "torchrun must be started with TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in its environment "
            f"to restart the processes of {launch.machines} machines; set it, or leave out "
            "--max-restarts."
        )
