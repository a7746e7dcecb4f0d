"""Positions: the places in histories at which the next item is to be found."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class RankingExample:
    """A user's items in numbers, oldest first, and which of them are to be found."""

    items: tuple[int, ...]
    places: range
    """Of what is to be found: each from all items before it. The end is what nobody knows yet."""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def targets(self) -> list[tuple[int, ...]]:
        """The right item at each place; none at the end."""
        return [self.items[place : place + 1] for place in self.places]


@dataclass(frozen=True)
class Positions:
    """The places of a batch, one row each: what came before is read once for all of a user's."""

    histories: Int[Tensor, "users longest"]
    """The items that something comes after; 0 beyond the end."""
    users: Int[Tensor, " rows"]
    places: Int[Tensor, " rows"]
    """How many items come before."""

    @classmethod
    def of(cls, batch: Sequence[RankingExample], device: torch.device) -> "Positions":
        """The places of a batch of users, user by user."""
        read = [torch.tensor(one.items[: max(one.places)]) for one in batch]
        users = [user for user, one in enumerate(batch) for _ in one.places]
        places = [place for one in batch for place in one.places]
        return cls(
            pad_sequence(read, batch_first=True).to(device),
            torch.tensor(users, device=device),
            torch.tensor(places, device=device),
        )
