"""Ranks: the processes that share a training, and how they exchange what they found."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ..check import UsageError
from ..data.tensors import digest, own
from ..search.check_tensors import NotFiniteError

OVER = {"kind": "over", "words": []}
"""What a process tells that has no more batches."""


class LostRankError(ConnectionError):
    """A process that shares the training has ended."""


class RankError(UsageError):
    """What another process failed with; the message says which one."""


@final
class Ranks:
    """The processes of a group, which all do the same in the same order; without one, only this.

    Nothing is added up on the way: what arrives are the bytes that were sent.
    """

    def __init__(self, group: "dist.ProcessGroup | None" = None) -> None:
        self.group = group
        self.count = 1 if group is None else dist.get_world_size(group)
        self.number = 0 if group is None else dist.get_rank(group)
        nccl = group is not None and dist.get_backend(group) == "nccl"
        self.device = torch.device("cuda", torch.cuda.current_device()) if nccl else "cpu"

    def gather(self, message: bytes) -> list[bytes]:
        """The messages of all processes, in their order."""
        if self.count == 1:
            return [message]
        sizes = self._gathered(torch.tensor([len(message)], device=self.device))[:, 0].tolist()
        padded = torch.zeros(max(1, *sizes), dtype=torch.uint8, device=self.device)
        if message:
            padded[: len(message)] = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        rows = self._gathered(padded).cpu()
        return [row[:size].numpy().tobytes() for row, size in zip(rows, sizes, strict=True)]

    def broadcast(self, message: bytes) -> bytes:
        """The message of the first process."""
        if self.count == 1:
            return message
        size = int(self._gathered(torch.tensor([len(message)], device=self.device))[0])
        data = torch.zeros(max(1, size), dtype=torch.uint8, device=self.device)
        if self.number == 0 and size:
            data[:] = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        with meeting():
            dist.broadcast(data, group=self.group, group_src=0)
        return data[:size].cpu().numpy().tobytes()

    def scatter(self, rows: Float[Tensor, "some size"]) -> Float[Tensor, "ranks some share"]:
        """Cut every row into a share for each process; return those for this one, of all rows."""
        share = -(-rows.shape[1] // self.count)
        padded = torch.nn.functional.pad(rows, (0, share * self.count - rows.shape[1]))
        sent = padded.view(len(rows), self.count, share).transpose(0, 1).contiguous()
        sent = sent.to(self.device)
        found = torch.empty_like(sent)
        with meeting():
            dist.all_to_all_single(found, sent, group=self.group)
        return found.to(rows.device)

    def joined(self, share: Float[Tensor, " share"], size: int) -> Float[Tensor, " size"]:
        """Put the shares of all processes together again, without the padding."""
        return self._gathered(share.to(self.device)).flatten()[:size].to(share.device)

    @contextmanager
    def agreeing(self) -> Iterator[None]:
        """Let every process do something; if it fails in one, raise the first error in all."""
        if self.count == 1:
            yield
            return
        error: Exception | None = None
        try:
            yield
        except LostRankError:
            raise
        except Exception as found:
            error = found
        told = self._told(described(error))
        for rank, one in enumerate(told):
            if one is not None:
                raise error if rank == self.number and error is not None else rebuilt(one, rank)

    def check_over(self) -> None:
        """Refuse that this process has no more batches while others go on."""
        told = self._told(OVER)
        if any(one != OVER for one in told):
            raise rebuilt(OVER, told.index(OVER))

    def check_equal(self, digest: str, required: str, remedy: str) -> None:
        """Refuse what is not the same in all processes."""
        found = self.gather(digest.encode())
        for rank, other in enumerate(found):
            if other != found[0]:
                raise UsageError(f"{required}, got others in process {rank}; {remedy}.")

    def check_weights(self, model: nn.Module) -> None:
        """Refuse weights that are not the same in all processes."""
        if self.count > 1:
            owned = {name: own(value) for name, value in model.state_dict().items()}
            self.check_equal(
                digest(owned),
                "`scorer` must have the same weights in all processes",
                "begin with those of one process in all of them, on machines of the same kind, "
                "and leave out parts that change without the optimizer, as batch normalization",
            )

    def _told(self, note: Mapping[str, Any] | None) -> list[dict[str, Any] | None]:
        """What all processes tell."""
        return [json.loads(one) for one in self.gather(json.dumps(note).encode())]

    def _gathered(self, tensor: Shaped[Tensor, " size"]) -> Shaped[Tensor, "ranks size"]:
        """The tensors of all processes, which have the same shape and type."""
        found = tensor.new_empty(self.count, len(tensor))
        with meeting():
            dist.all_gather(list(found), tensor.contiguous(), group=self.group)
        return found


@contextmanager
def meeting() -> Iterator[None]:
    """Say in words that a process is gone which this one waits for."""
    try:
        yield
    except RuntimeError as error:
        raise LostRankError(
            "Another process of this training has ended, or has not answered for too long."
        ) from error


def described(error: Exception | None) -> dict[str, Any] | None:
    """An error as JSON."""
    if error is None:
        return None
    if isinstance(error, NotFiniteError):
        return {"kind": "not finite", "words": [error.what, error.found, error.remedy]}
    if isinstance(error, ValueError):
        settings = error.settings if isinstance(error, UsageError) else ()
        return {"kind": "usage", "words": [str(error), *settings]}
    return {"kind": "other", "words": [f"{type(error).__name__}: {error}"]}


def rebuilt(told: Mapping[str, Any], rank: int) -> Exception:
    """The error that a process described."""
    words: list[str] = told["words"]
    if told["kind"] == "not finite":
        return NotFiniteError(*words)
    if told["kind"] == "over":
        return UsageError(
            f"Every process must be given the same batches, but process {rank} has no more of "
            "them; give all of them as many."
        )
    if told["kind"] == "usage":
        return UsageError(*words)
    return RankError(f"Process {rank} of the training failed: {words[0]}")
