from dataclasses import dataclass

import pytest
import shape_checks
import torch
from beartype import beartype
from jaxtyping import TypeCheckError

import beamlearn as bl


def wrong_shapes():
    bl.losses.upper_bound(torch.zeros(2, 3), torch.zeros(2, 4), 1)


def test_first_calls_are_checked_and_later_ones_at_intervals():
    right = torch.zeros(2, 3)
    for number in range(1, 2 * shape_checks.INTERVAL + 1):
        checked = number <= shape_checks.FIRST or number % shape_checks.INTERVAL == 0
        if checked:
            with pytest.raises(TypeCheckError):
                wrong_shapes()
        else:
            bl.losses.upper_bound(right, right, 1)


@pytest.mark.parametrize("time", [1, 2])
def test_every_test_starts_with_checked_calls(time):
    for _ in range(shape_checks.FIRST):
        with pytest.raises(TypeCheckError):
            wrong_shapes()


def test_constructors_are_checked_like_other_calls():
    @shape_checks.check_some_calls(typechecker=beartype)
    @dataclass
    class Counted:
        number: int

    for call in range(1, shape_checks.INTERVAL + 1):
        if call <= shape_checks.FIRST or call == shape_checks.INTERVAL:
            with pytest.raises(TypeCheckError):
                Counted("wrong")
        else:
            assert Counted("wrong").number == "wrong"


def test_functions_made_again_and_again_are_one_function():
    def made():
        @shape_checks.check_some_calls(typechecker=beartype)
        def same(number: int) -> int:
            return number

        return same

    for number in range(1, 2 * shape_checks.INTERVAL + 1):
        if number <= shape_checks.FIRST or number % shape_checks.INTERVAL == 0:
            with pytest.raises(TypeCheckError):
                made()("wrong")
        else:
            assert made()("wrong") == "wrong"
