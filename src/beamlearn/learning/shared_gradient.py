"""The gradient of a batch that is cut into shards, by one process or by several."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..check import UsageError
from ..search.check_tensors import NotFiniteError
from .gradient import Gradient, check_some, clip_gradient
from .incurred import Outcome
from .iterates import join_states, split_states
from .message import pack, unpack
from .not_finite import bad_gradient
from .ranks import Ranks
from .shards import Node, Shards, merge


@dataclass(frozen=True)
class SharedGradient:
    """Computes the gradient of the shards that are this process's own, and adds up all of them."""

    shards: Shards
    ranks: Ranks
    generator: torch.Generator | None
    keep: bool
    """Keep the trajectories of the own shards?"""

    def of(
        self, gradient: Gradient, batch: Any, round: int, clip: float | None
    ) -> tuple[Outcome, float]:
        """Leave the gradient of the batch in the parameters; return its outcome and the norm."""
        outcomes: dict[int, Outcome] = {}
        sums: dict[Node, Tensor] = {}
        with self.ranks.agreeing():
            parts = self.shards.cut(batch)
            check_some(len(batch))
            for shard in self.shards.own:
                gradient.optimizer.zero_grad()
                if len(parts[shard]) > 0:
                    with (
                        naming_shard(shard, self.shards.count),
                        self.shards.seeded(gradient.scorer, self.generator, round, shard),
                    ):
                        incurred, _ = gradient.of(parts[shard], batch=len(batch))
                    outcomes[shard] = incurred.outcome(keep=self.keep)
                    del incurred  # free this trajectory before the next one is collected
                flat = flat_gradient(gradient.parameters)
                sums = merge({**sums, (0, shard): flat}, self.shards.count)
        outcome = self._outcome(outcomes, round, len(batch))
        put_gradient(self._total(sums), gradient.parameters)
        norm = clip_gradient(gradient.parameters, clip)
        if not isfinite(norm):
            raise bad_gradient(gradient.scorer, gradient.parameters, ())
        return outcome, norm

    def _outcome(self, own: Mapping[int, Outcome], round: int, size: int) -> Outcome:
        """The outcome of the batch, from those of the shards of all processes."""
        columns = join_states({shard: dict(one.columns) for shard, one in own.items()})
        widths = [one.width for one in own.values()]
        message = pack(columns, {"round": round, "size": size, "widths": widths})
        found = [unpack(one) for one in self.ranks.gather(message)]
        check_batches([note for _, note in found])
        states = split_states({name: one for tensors, _ in found for name, one in tensors.items()})
        names = next(iter(states.values()))
        placed = {
            name: self.shards.placed({shard: one[name] for shard, one in states.items()}, size)
            for name in names
        }
        width = next(width for _, note in found for width in note["widths"])
        return Outcome(placed, width, tuple(path for one in own.values() for path in one.paths))

    def _total(self, sums: Mapping[Node, Float[Tensor, " size"]]) -> Float[Tensor, " size"]:
        """The sum over all shards, from those that the own ones add up to.

        Every process adds up a share of the entries, in the same tree as one alone would.
        """
        if self.ranks.count == 1:
            (total,) = sums.values()
            return total
        nodes = [self.shards.nodes_of_rank(rank) for rank in range(self.ranks.count)]
        own = [sums[node] for node in nodes[self.ranks.number]]
        most = max(len(some) for some in nodes)
        own += [torch.zeros_like(own[0])] * (most - len(own))
        shares = self.ranks.scatter(torch.stack(own))
        received = {
            node: shares[rank, place]
            for rank, some in enumerate(nodes)
            for place, node in enumerate(some)
        }
        (share,) = merge(received, self.shards.count).values()
        return self.ranks.joined(share, len(own[0]))


@contextmanager
def naming_shard(shard: int, shards: int) -> Iterator[None]:
    """Let errors about numbers that are not finite say in which shard they were found."""
    try:
        yield
    except NotFiniteError as error:
        raise error.in_shard(shard, shards) from error


def flat_gradient(parameters: Sequence[Tensor]) -> Float[Tensor, " size"]:
    """All gradients one after another, and then which parameters have one.

    Optimizers treat a parameter without a gradient otherwise than one with a gradient of 0.
    """
    dtype = reduce(torch.promote_types, (p.dtype for p in parameters))
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    present = [float(p.grad is not None) for p in parameters]
    flat = [gradient.detach().reshape(-1).to(dtype) for gradient in found]
    return torch.cat([*flat, flat[0].new_tensor(present)])


def put_gradient(flat: Float[Tensor, " size"], parameters: Sequence[Tensor]) -> None:
    """Give every parameter its part of a flat gradient, in memory of its own, or none."""
    *gradients, present = flat.split([*(p.numel() for p in parameters), len(parameters)])
    for parameter, gradient, shards in zip(parameters, gradients, present.tolist(), strict=True):
        parameter.grad = None
        if shards > 0:
            parameter.grad = torch.empty_like(parameter).copy_(gradient.view_as(parameter))


def check_batches(notes: Sequence[Mapping[str, Any]]) -> None:
    """Refuse batches of which it is certain that they are not the same in all processes."""
    for rank, note in enumerate(notes):
        for name, of in (("round", "of round {}"), ("size", "of {} examples")):
            if note[name] != notes[0][name]:
                raise UsageError(
                    "Every process must be given the same batches, got one "
                    f"{of.format(note[name])} in process {rank} and {of.format(notes[0][name])} in "
                    "process 0; give all of them the whole batch."
                )
