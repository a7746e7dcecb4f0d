"""Footprint: how much memory a search needs, so that one that has not enough never starts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .settings import WordSettings
from .task import PredictionRequest

STEP = 8 << 10
"""What a step leaves behind, in bytes, beside 64 for each hypothesis."""
NUMBER = 4
"""Bytes of a number."""


def footprint(length: int, numbers: int, steps: int, width: int) -> int:
    """About how many bytes a search needs.

    `numbers` is how many a network keeps for each word or symbol of the input. They grow with the
    length of the input, and the rest with its steps and the width of the beam.
    """
    return NUMBER * length * numbers + steps * (STEP + 64 * width)


def word_numbers(settings: WordSettings, encoder_size: int) -> int:
    """How many numbers a network keeps for a word: its vectors, and what an encoder makes of them.

    The gates of a recurrent encoder are four times its size, in both directions.
    """
    affixes = 2 * settings.affix_length + 1
    return settings.word_size + affixes * settings.affix_size + 16 * encoder_size


@dataclass(frozen=True)
class Searched:
    """What a search is for, as a refusal names it."""

    place: str
    """The file, with a line if it has one."""
    what: str = "what begins on this line"
    remedy: str = "split it"
    """What to do if it is too long."""


def fitting(
    needs: Sequence[int], places: Sequence[int], path: str, request: PredictionRequest
) -> list[int]:
    """Which searches there is memory for; the request hears of the others, by file and line."""
    return affordable(needs, (Searched(f"{path}:{place}") for place in places), request)


def affordable(
    needs: Sequence[int], searched: Iterable[Searched], request: PredictionRequest
) -> list[int]:
    """Which searches there is memory for; the request hears of the others, by what they are for."""
    limit, found = request.memory, list[int]()
    for number, (need, one) in enumerate(zip(needs, searched, strict=True)):
        if limit is None or need <= limit:
            found.append(number)
            continue
        request.refuse(
            f"{one.place}: A search may need {gigabytes(limit)} of memory, but {one.what} is so "
            f"long that it needs about {gigabytes(need)}; {one.remedy}, use a smaller `width`, or "
            "raise `max_memory`."
        )
    return found


def gigabytes(size: int) -> str:
    """A number of bytes as people read it.

    >>> gigabytes(1_500_000_000), gigabytes(12_000_000)
    ('1.5 GB', '0.012 GB')
    """
    return f"{size / 1e9:.2g} GB"
