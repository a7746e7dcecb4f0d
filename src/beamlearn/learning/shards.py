"""Shards: a batch in parts, with seeds of their own, and sums that do not depend on who adds up.

The number of shards belongs to the experiment, the number of processes to the machine. So every sum
over shards follows one fixed tree, whichever process computes which of its nodes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ..check import UsageError
from .seeds import seed_of, seeded_devices

Number = TypeVar("Number", Tensor, int, float, str)
Node = tuple[int, int]
"""A node of the tree: its level, from the leaves at 0 up, and its place in it."""


@dataclass(frozen=True)
class Shards:
    """How batches are cut, and which shards this process computes."""

    count: int
    seed: int = 0
    """What dropout and coins depend on, beside the round and the shard."""
    ranks: int = 1
    """The number of processes, which must divide that of shards."""
    rank: int = 0

    def __post_init__(self) -> None:
        check_shards(self.count, self.ranks)

    def of_rank(self, rank: int) -> range:
        """The shards that a process computes: as many as any other, side by side."""
        each = self.count // self.ranks
        return range(rank * each, (rank + 1) * each)

    @property
    def own(self) -> range:
        """The shards that this process computes."""
        return self.of_rank(self.rank)

    def cut(self, batch: Any) -> list[Sequence[Any]]:
        """The examples of each shard; the last ones may have fewer, or none."""
        if not isinstance(batch, Sequence):
            raise TypeError(
                "A batch must be a list of examples to be cut into `shards`, got a "
                f"{type(batch).__name__}; leave `shards` out."
            )
        return [batch[shard :: self.count] for shard in range(self.count)]

    @contextmanager
    def seeded(
        self, model: nn.Module, generator: torch.Generator | None, round: int, shard: int
    ) -> Iterator[None]:
        """Let dropout and coins depend on nothing but the seed, the round and the shard."""
        kind, devices = seeded_devices(model)
        with torch.random.fork_rng(devices, device_type=kind):
            torch.manual_seed(seed_of(seed_of(self.seed, "dropout", round), "shard", shard))
            if generator is not None:
                generator.manual_seed(seed_of(seed_of(self.seed, "coins", round), "shard", shard))
            yield

    def placed(self, parts: Mapping[int, Tensor], size: int) -> Tensor:
        """The numbers of all shards that have examples, in the order of their batch.

        Where an example has several numbers, shard after shard.
        """
        if sum(map(len, parts.values())) != size:
            return torch.cat([parts[shard] for shard in sorted(parts)])
        first = next(iter(parts.values()))
        found = first.new_zeros(size)
        for shard, numbers in parts.items():
            found[shard :: self.count] = numbers
        return found

    def nodes_of_rank(self, rank: int) -> list[Node]:
        """The nodes of the tree that the shards of a process add up to, and no others do."""
        return sorted(merge({(0, shard): 0 for shard in self.of_rank(rank)}, self.count))


def merge(parts: Mapping[Node, Number], leaves: int) -> dict[Node, Number]:
    """Add up the parts along a balanced binary tree, as far as both children of a node are there.

    A node without a sibling goes up as it is. All leaves together add up to the root alone, in
    whatever order and grouping they came.

    >>> merge({(0, 0): "a", (0, 1): "b", (0, 2): "c", (0, 4): "e"}, leaves=5)
    {(0, 2): 'c', (1, 0): 'ab', (2, 1): 'e'}
    """
    found, level, width = dict(parts), 0, leaves
    while width > 1:
        for left in range(0, width, 2):
            pair = [(level, place) for place in range(left, min(left + 2, width))]
            if all(node in found for node in pair):
                above = [found.pop(node) for node in pair]
                found[level + 1, left // 2] = above[0] if len(above) == 1 else above[0] + above[1]
        level, width = level + 1, -(-width // 2)
    return found


def check_shards(shards: int, processes: int = 1) -> None:
    """Refuse a number of shards that the processes cannot divide among them."""
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise UsageError(f"`shards` must be a whole number of at least 1, got {shards!r}.")
    if shards % processes == 0:
        return
    fitting = ", ".join(str(n) for n in range(1, shards + 1) if shards % n == 0)
    raise UsageError(
        f"`shards` must be a multiple of the number of processes, which is {processes}, got "
        f"{shards}; begin a training with `shards={processes}`, as it is part of the experiment, "
        f"or start as many processes as divide it ({fitting})."
    )
