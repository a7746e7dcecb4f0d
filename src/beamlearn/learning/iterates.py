"""Policies made of many iterates: their uniform mixture, and their average."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from torch import Tensor, nn

from .seeds import seed_of

State = dict[str, Tensor]
"""Parameters of a module by their names."""


def learned_parameters(model: nn.Module) -> State:
    """A copy of the parameters that are learned; frozen ones are the same in all iterates."""
    return {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}


@final
class Reservoir:
    """An even sample of theta_1, ..., theta_m, of bounded size (Vitter's algorithm R).

    Offer every iterate before its update. After m offers each of the m iterates is kept with
    the same probability, so drawing one of the sample at random is drawing one of all. The
    coin of a round depends on the seed and the round alone.

    >>> model = nn.Linear(1, 1)
    >>> reservoir = Reservoir(size=2)
    >>> for round in range(1, 6):
    ...     reservoir.offer(round, model)
    >>> len(reservoir.iterates), all(1 <= round <= 5 for round in reservoir.iterates)
    (2, True)
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        if size < 1:
            raise ValueError(f"`size` of a reservoir must be at least 1, but {size} came.")
        self.size, self.seed = size, seed
        self.iterates: dict[int, State] = {}
        """The kept ones by their round, in the order of their places."""

    def offer(self, round: int, model: nn.Module) -> None:
        """Perhaps keep the parameters that the round begins with."""
        if len(self.iterates) < self.size:
            self.iterates[round] = learned_parameters(model)
            return
        place = seed_of(self.seed, "mixture", round) % round
        if place < self.size:
            held = list(self.iterates.items())
            held[place] = (round, learned_parameters(model))
            self.iterates = dict(held)


def join_states(iterates: Mapping[int, State]) -> State:
    """Numbered states, such as iterates by their rounds, as one: names begin with the number."""
    return {
        f"{round}.{name}": value
        for round, iterate in iterates.items()
        for name, value in iterate.items()
    }


def split_states(state: Mapping[str, Tensor]) -> dict[int, State]:
    """The states that were `join_states`, in the order of their numbers."""
    found: dict[int, State] = {}
    for name, value in state.items():
        round, _, rest = name.partition(".")
        found.setdefault(int(round), {})[rest] = value
    return dict(sorted(found.items()))


@final
class Average:
    """(theta_1 + ... + theta_m) / m.

    For a convex loss its risk is at most the mean risk of the iterates, along trajectories that
    do not depend on it; so it suits linear scorers.
    """

    def __init__(self) -> None:
        self.count = 0
        self.state: State = {}

    def offer(self, model: nn.Module) -> None:
        """Take in the parameters that a round begins with."""
        self.count += 1
        for name, value in learned_parameters(model).items():
            self.state.setdefault(name, value).lerp_(value, 1 / self.count)


@final
@dataclass(frozen=True)
class Mixture:
    """The uniform mixture of iterates: one is drawn for each example and decides all its steps.

    Which one it is depends on the number of the example alone, and not on its batch.
    """

    model: nn.Module
    iterates: Sequence[Mapping[str, Tensor]]
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.iterates:
            raise ValueError("A mixture needs at least one iterate, but none came.")

    def parts(self, count: int) -> Iterator[list[int]]:
        """For one iterate after the other, while its parameters are in the model: its examples.

        Afterwards the model has the parameters back that it had.
        """
        drawn = [seed_of(self.seed, "example", n) % len(self.iterates) for n in range(count)]
        before = {name: value.clone() for name, value in self.model.state_dict().items()}
        try:
            for place, iterate in enumerate(self.iterates):
                numbers = [number for number, one in enumerate(drawn) if one == place]
                if numbers:
                    self.model.load_state_dict({**before, **iterate})
                    yield numbers
        finally:
            self.model.load_state_dict(before)
