"""Reservoirs, averages, and decoding with a mixture."""

from collections import Counter

import pytest
import torch
from torch import nn

from beamlearn.learning.iterates import (
    Average,
    Mixture,
    Reservoir,
    join_states,
    learned_parameters,
    split_states,
)


class Number(nn.Module):
    """A module whose one parameter says which iterate it is."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value))


def offered(size, rounds, seed):
    reservoir, model = Reservoir(size, seed), Number()
    for round in range(1, rounds + 1):
        with torch.no_grad():
            model.value.fill_(round)
        reservoir.offer(round, model)
    return reservoir.iterates


def test_a_reservoir_holds_what_it_says():
    for size in (1, 3, 10):
        kept = offered(size, 7, seed=1)
        assert len(kept) == min(size, 7)
        assert all(float(state["value"]) == round for round, state in kept.items())


def test_every_iterate_is_as_likely_to_be_kept():
    rounds, size, seeds = 12, 3, 4000
    counts = Counter(round for seed in range(seeds) for round in offered(size, rounds, seed))
    expected = seeds * size / rounds
    deviation = (expected * (1 - size / rounds)) ** 0.5
    assert set(counts) == set(range(1, rounds + 1))
    assert all(abs(count - expected) < 5 * deviation for count in counts.values())


def test_what_is_kept_depends_on_the_round_and_not_on_the_past():
    straight = offered(2, 30, seed=4)
    resumed = Reservoir(2, seed=4)
    resumed.iterates = offered(2, 17, seed=4)
    model = Number()
    for round in range(18, 31):
        with torch.no_grad():
            model.value.fill_(round)
        resumed.offer(round, model)
    assert list(resumed.iterates) == list(straight)


def test_kept_iterates_are_copies():
    model = Number(1.0)
    reservoir = Reservoir(1)
    reservoir.offer(1, model)
    with torch.no_grad():
        model.value.fill_(2.0)
    assert float(reservoir.iterates[1]["value"]) == 1.0


def test_frozen_parameters_are_not_kept():
    model = nn.ModuleDict({"frozen": Number(5.0), "free": Number(1.0)})
    model["frozen"].value.requires_grad_(False)
    assert list(learned_parameters(model)) == ["free.value"]
    other = {"free.value": torch.tensor(2.0)}
    with Mixture(model, [other]).using(0):
        assert (model["frozen"].value.item(), model["free"].value.item()) == (5.0, 2.0)
    assert (model["frozen"].value.item(), model["free"].value.item()) == (5.0, 1.0)


def test_a_mixture_needs_an_iterate():
    with pytest.raises(
        ValueError, match="`iterates` of a mixture must hold at least one, got none"
    ):
        Mixture(Number(), [])


def test_a_reservoir_needs_room():
    with pytest.raises(ValueError, match="`size` of a reservoir must be at least 1, got 0"):
        Reservoir(0)


def test_the_average_of_all_iterates():
    average, model = Average(), Number()
    values = [3.0, -1.0, 4.0, 1.0, 5.0]
    for value in values:
        with torch.no_grad():
            model.value.fill_(value)
        average.offer(model)
    assert average.count == 5
    assert float(average.state["value"]) == pytest.approx(sum(values) / 5)


def test_joined_states_can_be_split():
    states = {3: learned_parameters(Number(3.0)), 11: learned_parameters(Number(11.0))}
    found = split_states(join_states(states))
    assert {round: float(state["value"]) for round, state in found.items()} == {3: 3.0, 11: 11.0}


def test_each_example_has_one_iterate_whatever_else_is_there():
    model = Number(-1.0)
    mixture = Mixture(model, [learned_parameters(Number(float(i))) for i in range(4)], seed=7)

    def owners(count):
        parts = mixture.assign(count)
        return {n: place for place, numbers in enumerate(parts) for n in numbers}

    many, few = owners(200), owners(50)
    assert sorted(many) == list(range(200))
    assert few == {n: many[n] for n in range(50)}
    assert many == {n: mixture.place_of(n) for n in range(200)}
    assert set(many.values()) == {0, 1, 2, 3}
    assert max(Counter(many.values()).values()) < 90
    assert model.value.item() == -1.0


def test_the_weights_of_an_iterate_are_there_for_a_while():
    model = Number(-1.0)
    mixture = Mixture(model, [learned_parameters(Number(1.0)), learned_parameters(Number(2.0))])
    for place, value in ((1, 2.0), (0, 1.0)):
        with mixture.using(place):
            assert model.value.item() == value
        assert model.value.item() == -1.0


def test_weights_come_back_after_an_exception():
    model = Number(-1.0)
    mixture = Mixture(model, [learned_parameters(Number(1.0))])

    def decode():
        assert model.value.item() == 1.0
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), mixture.using(0):
        decode()
    assert model.value.item() == -1.0


def test_weights_that_do_not_fit_change_nothing():
    model = nn.ModuleDict({"one": Number(-1.0)})
    mixture = Mixture(model, [{"one.value": torch.tensor(1.0), "two.value": torch.tensor(2.0)}])
    with pytest.raises(RuntimeError, match="two.value"), mixture.using(0):
        pass
    assert model["one"].value.item() == -1.0


def test_tied_weights_are_changed_together():
    model = nn.ModuleDict({"one": Number(-1.0), "two": Number(-1.0)})
    model["two"].value = model["one"].value
    with Mixture(model, [{"one.value": torch.tensor(1.0)}]).using(0):
        assert model["two"].value.item() == 1.0
    assert model["one"].value.item() == model["two"].value.item() == -1.0
