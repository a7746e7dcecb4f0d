"""Policies made of many iterates: their uniform mixture, and their average."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from torch import Tensor, nn

from .seeds import seed_of

State = dict[str, Tensor]
"""Parameters of a module by their names."""


def learned_parameters(model: nn.Module) -> State:
    """Copy the parameters that are learned; frozen ones are the same in all iterates."""
    return {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}


@final
class Reservoir:
    """An even sample of theta_1, ..., theta_m, of bounded size (Vitter's algorithm R).

    Offer every iterate before its update. After m offers each of the m iterates has been kept
    with the same probability, so a random draw from the sample is a random draw from all of
    them. What a round draws depends only on the seed and the round.

    >>> model = nn.Linear(1, 1)
    >>> reservoir = Reservoir(size=2)
    >>> for round in range(1, 6):
    ...     reservoir.offer(round, model)
    >>> len(reservoir.iterates), all(1 <= round <= 5 for round in reservoir.iterates)
    (2, True)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        if size < 1:
            raise ValueError(f"`size` of a reservoir must be at least 1, got {size}.")
        self.size, self.seed = size, seed
        self.iterates: dict[int, State] = {}
        """The kept iterates by their rounds, in the order of their slots."""

    def offer(self, round: int, model: nn.Module) -> None:
        """Keep the parameters that the round begins with, if they are drawn."""
        if len(self.iterates) < self.size:
            self.iterates[round] = learned_parameters(model)
            return
        place = seed_of(self.seed, "mixture", round) % round
        if place < self.size:
            held = list(self.iterates.items())
            held[place] = (round, learned_parameters(model))
            self.iterates = dict(held)


def join_states(iterates: Mapping[int, State]) -> State:
    """Join numbered states, such as iterates by their rounds; names begin with the number."""
    return {
        f"{round}.{name}": value
        for round, iterate in iterates.items()
        for name, value in iterate.items()
    }


def split_states(state: Mapping[str, Tensor]) -> dict[int, State]:
    """Undo `join_states`; the states come in the order of their numbers."""
    found: dict[int, State] = {}
    for name, value in state.items():
        round, _, rest = name.partition(".")
        found.setdefault(int(round), {})[rest] = value
    return dict(sorted(found.items()))


@final
class Average:
    """(theta_1 + ... + theta_m) / m.

    For a convex loss, its risk along trajectories that do not depend on it is at most the mean
    risk of the iterates. So it suits linear scorers.
    """

    def __init__(self) -> None:
        self.count = 0
        self.state: State = {}

    def offer(self, model: nn.Module) -> None:
        """Add the parameters that a round begins with."""
        self.count += 1
        for name, value in learned_parameters(model).items():
            self.state.setdefault(name, value).lerp_(value, 1 / self.count)


@final
@dataclass(frozen=True)
class Mixture:
    """The uniform mixture of iterates: one is drawn for each example and decides all its steps.

    The draw depends only on the seed and the number of the example, not on its batch.

    >>> model = nn.Linear(1, 1)
    >>> mixture = Mixture(model, [learned_parameters(model), learned_parameters(nn.Linear(1, 1))])
    >>> for place, numbers in enumerate(mixture.assign(4)):
    ...     with mixture.using(place):
    ...         pass  # decode the examples with these numbers
    """

    model: nn.Module
    iterates: Sequence[Mapping[str, Tensor]]
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.iterates:
            raise ValueError("`iterates` of a mixture must hold at least one, got none.")

    def place_of(self, number: int) -> int:
        """Which iterate decides an example, counted from 0."""
        return seed_of(self.seed, "example", number) % len(self.iterates)

    def assign(self, count: int) -> list[list[int]]:
        """For each iterate, the numbers of the examples among the first `count` that it decides."""
        numbers: list[list[int]] = [[] for _ in self.iterates]
        for number in range(count):
            numbers[self.place_of(number)].append(number)
        return numbers

    @contextmanager
    def using(self, place: int) -> Iterator[None]:
        """Put one iterate's parameters into the model; on exit, restore what was there."""
        own, iterate = self.model.state_dict(), self.iterates[place]
        before = {name: value.clone() for name, value in own.items() if name in iterate}
        try:
            self.model.load_state_dict({**own, **iterate})
            yield
        finally:
            self.model.load_state_dict({**own, **before})
