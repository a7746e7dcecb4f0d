"""Tensors as bytes: copies that nothing else uses, and digests."""

import hashlib
import json
from collections.abc import Mapping

import torch
from torch import Tensor


def own(tensor: Tensor) -> Tensor:
    """Copy a tensor to contiguous CPU memory that nothing else uses.

    A tensor straight from a file may start at any address, and vectorized sums over it may be
    rounded in another order than over the one that was saved.
    """
    return tensor.detach().clone(memory_format=torch.contiguous_format).cpu()


def digest(tensors: Mapping[str, Tensor], note: str = "") -> str:
    """SHA-256 over the note and every tensor's name, type, shape and bytes, in name order.

    It finds accidents and edits; it is no signature, as anyone can compute it. The tensors are
    contiguous and on the CPU, as `own` makes them.
    """
    sha = hashlib.sha256(json.dumps(note).encode())
    for name, tensor in sorted(tensors.items()):
        sha.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        sha.update(tensor.flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()
