import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.learning.ramp import Ramp

numbers = st.integers(0, 10**8) | st.floats(0, 1)


@given(numbers, numbers)
def test_a_ramp_is_written_as_it_is_read(first, last):
    ramp = Ramp(first, last)
    assert Ramp.parse(str(ramp)) == ramp
    assert Ramp.parse(ramp) is ramp
    assert ramp.constant == (":" not in str(ramp))


@pytest.mark.parametrize(
    ("value", "ramp", "text"),
    [
        (8, Ramp(8, 8), "8"),
        ("1:8", Ramp(1, 8), "1:8"),
        ("1:1", Ramp(1, 1), "1"),
        (0.5, Ramp(0.5, 0.5), "0.5"),
        ("0.9:0", Ramp(0.9, 0), "0.9:0"),
    ],
)
def test_numbers_and_pairs_of_them(value, ramp, text):
    assert Ramp.parse(value) == ramp
    assert str(Ramp.parse(value)) == text


@pytest.mark.parametrize(("text", "kind"), [("8", int), ("8.0", float), (" 8", float)])
def test_digits_alone_are_whole_numbers(text, kind):
    assert type(Ramp.parse(text).first) is kind


@pytest.mark.parametrize("value", ["", ":", "8:", ":8", "1:2:3", "a", True, None, [1]])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match=r"."):
        Ramp.parse(value)


def test_steps_go_down_too():
    assert [Ramp(3, 1).steps(6)(t) for t in range(1, 7)] == [3, 2, 1, 1, 1, 1]
