"""Ramp: a number that changes evenly in the course of a training."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ramp:
    """A number that goes from `first` to `last`, or one that stays the same.

    >>> ramp = Ramp.parse("1:8")
    >>> ramp.first, ramp.last, str(ramp), str(Ramp(4, 4))
    (1, 8, '1:8', '4')
    """

    first: float
    last: float

    @classmethod
    def parse(cls, text: object) -> "Ramp":
        """Read a number, or two with a colon between them; a ValueError for anything else."""
        if isinstance(text, Ramp):
            return text
        numbers = [_number(part) for part in str(text).split(":")]
        if len(numbers) > 2:
            raise ValueError(f"{text!r} has more than two numbers")
        return cls(numbers[0], numbers[-1])

    def __str__(self) -> str:
        return str(self.first) if self.constant else f"{self.first}:{self.last}"

    @property
    def constant(self) -> bool:
        """Does it stay the same?"""
        return self.first == self.last

    def steps(self, rounds: int) -> Callable[[int], int]:
        """In whole steps during the first half of a training of so many rounds, for widths.

        >>> [Ramp(1, 3).steps(12)(round) for round in (1, 2, 3, 4, 5, 6, 7)]
        [1, 1, 2, 2, 3, 3, 3]
        """
        first, last = int(self.first), int(self.last)
        span = max(1, rounds // 2)
        step = 1 if last >= first else -1
        several = abs(last - first)
        return lambda t: first + step * min(several, (t - 1) * (several + 1) // span)


def _number(text: str) -> float:
    """Digits alone as a whole number, so that they are written like that again."""
    return int(text) if text.isdecimal() else float(text)
