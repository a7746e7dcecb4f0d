"""Alphabets: which letters a pattern can name, and how."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from ...check import UsageError, quoted
from .pattern import SPECIAL, Pattern

CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
"""Characters that are written as a backslash and a letter."""
SHORTHANDS: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "s": str.isspace,
    "w": lambda character: character.isalnum() or character == "_",
}
"""Sets that are written so; a capital letter means all others. These are the ones of `re`."""
CLOSE, NEGATED = "]", "^"


@dataclass(frozen=True)
class Alphabet(ABC):
    """Letters by number."""

    numbers: Mapping[str, int]

    @property
    @abstractmethod
    def any(self) -> frozenset[int]:
        """What a dot stands for."""

    @abstractmethod
    def blanks(self, pattern: Pattern) -> None:
        """Read what means nothing."""

    @abstractmethod
    def literal(self, pattern: Pattern) -> frozenset[int]:
        """Read a letter that stands for itself, or a name of several letters."""

    @abstractmethod
    def member(self, pattern: Pattern) -> frozenset[int]:
        """Read an entry of a class."""

    @cached_property
    def all(self) -> frozenset[int]:
        """Every letter; an empty one is none."""
        return frozenset(number for letter, number in self.numbers.items() if letter)

    def known(self, letter: str, pattern: Pattern, place: int) -> frozenset[int]:
        """The number of a letter that there must be."""
        if letter not in self.numbers:
            raise pattern.wrong(
                f"{quoted(letter)} is no symbol of outputs", "name one that occurs in them", place
            )
        return frozenset([self.numbers[letter]])

    def choice(self, pattern: Pattern) -> frozenset[int]:
        """Read a class after its opening bracket."""
        begin = pattern.place - 1
        negated, found = pattern.skip(NEGATED), frozenset[int]()
        self.blanks(pattern)
        first = True
        while first or pattern.here != CLOSE:
            if not pattern.here:
                raise pattern.wrong("a class begins that has no end", "add a ]", begin)
            found |= self.member(pattern)
            self.blanks(pattern)
            first = False
        pattern.take()
        found = self.all - found if negated else found
        if not found:
            raise pattern.wrong(
                "a class stands for no symbol of outputs", "name one that occurs in them", begin
            )
        return found


@final
@dataclass(frozen=True)
class Characters(Alphabet):
    """Letters are characters, as in most regular expressions."""

    @classmethod
    def of(cls, symbols: Sequence[str]) -> "Characters":
        """All characters of some symbols."""
        found = sorted({character for symbol in symbols for character in symbol})
        return cls({character: number for number, character in enumerate(found)})

    @cached_property
    def any(self) -> frozenset[int]:
        """All but the end of a line, as in `re`."""
        return self.matching(lambda character: character != "\n")

    def matching(self, wanted: Callable[[str], bool]) -> frozenset[int]:
        """The numbers of some characters."""
        return frozenset(number for letter, number in self.numbers.items() if wanted(letter))

    def blanks(self, pattern: Pattern) -> None:
        """Spaces are characters like others."""

    def literal(self, pattern: Pattern) -> frozenset[int]:
        place = pattern.place
        found = self.one(pattern)
        return self.known(found, pattern, place) if isinstance(found, str) else found

    def member(self, pattern: Pattern) -> frozenset[int]:
        place = pattern.place
        low = self.one(pattern)
        if not isinstance(low, str):
            return low
        rest = pattern.text[pattern.place : pattern.place + 2]
        if rest[:1] != "-" or rest[1:] in ("", CLOSE):
            return self.matching(lambda character: character == low)
        pattern.take()
        high = self.one(pattern)
        if not isinstance(high, str) or high < low:
            raise pattern.wrong(
                "a range does not go from a character to a later one", "write it as in a-z", place
            )
        return self.matching(lambda character: low <= character <= high)

    def one(self, pattern: Pattern) -> str | frozenset[int]:
        """Read a character, or a shorthand for a set of them."""
        place = pattern.place
        character = pattern.take()
        if character != "\\":
            return character
        if not pattern.here:
            raise pattern.wrong("a backslash has nothing after it", "write it twice", place)
        escaped = pattern.take()
        if (wanted := SHORTHANDS.get(escaped.lower())) is not None:
            found = self.matching(wanted)
            return found if escaped.islower() else self.all - found
        if escaped in CONTROLS:
            return CONTROLS[escaped]
        if escaped.isalnum():
            raise pattern.wrong(
                f"\\{escaped} has no meaning", "use characters, classes, groups and repetitions",
                place,
            )  # fmt: skip
        return escaped


@final
@dataclass(frozen=True)
class Words(Alphabet):
    """Letters are whole symbols; in a pattern, spaces stand between them."""

    @classmethod
    def of(cls, symbols: Sequence[str]) -> "Words":
        """The symbols by their places, which must be different."""
        if len(set(symbols)) < len(symbols):
            twice = next(symbol for symbol, count in Counter(symbols).items() if count > 1)
            raise UsageError(
                f"`symbols` must be different where patterns name them, got {quoted(twice)} twice."
            )
        return cls({symbol: number for number, symbol in enumerate(symbols)})

    @property
    def any(self) -> frozenset[int]:
        return self.all

    def blanks(self, pattern: Pattern) -> None:
        while pattern.here.isspace():
            pattern.take()

    def literal(self, pattern: Pattern) -> frozenset[int]:
        begin, name = pattern.place, ""
        while pattern.here and not pattern.here.isspace() and pattern.here not in SPECIAL - {"\\"}:
            if pattern.skip("\\") and not pattern.here:
                raise pattern.wrong("a backslash has nothing after it", "write it twice", begin)
            name += pattern.take()
        if not name:
            raise pattern.wrong(
                f"{quoted(pattern.here)} has no meaning", "put a backslash before it"
            )
        return self.known(name, pattern, begin)

    def member(self, pattern: Pattern) -> frozenset[int]:
        return self.literal(pattern)
