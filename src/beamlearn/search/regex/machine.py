"""From syntax to a deterministic table: Thompson's automaton, then sets of its states."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...check import quoted
from .alphabet import Alphabet
from .parser import parsed
from .pattern import PatternError
from .syntax import InTurn, Letter, OneOf, Repeated, Syntax

LARGEST = 5_000
"""How many states there may be, before and after sets are formed."""


@dataclass(frozen=True)
class Machine:
    """A deterministic automaton that begins in state 0."""

    table: list[list[int]]
    """The state after each state and kind of letter; -1: there is none."""
    kinds: list[int]
    """The kind of each letter."""
    accepting: list[int]


def machine_of(text: str, alphabet: Alphabet) -> Machine:
    """The automaton of a pattern."""
    try:
        fragments = Fragments()
        ends = fragments.of(parsed(text, alphabet))
        return determined(fragments, *ends, alphabet)
    except TooLargeError as error:
        raise PatternError(
            f"`pattern` must be small enough for an automaton of {LARGEST:,} states, but "
            f"{quoted(text)} needs more; use smaller numbers of repetitions, or fewer choices.",
            "pattern",
        ) from error


class TooLargeError(Exception):
    """There would be too many states."""


@dataclass
class Fragments:
    """Thompson's automaton: each state has a step by a letter, or some by nothing."""

    letters: list[tuple[frozenset[int], int] | None] = field(default_factory=list)
    empty: list[list[int]] = field(default_factory=list)

    def new(self) -> int:
        """One more state."""
        if len(self.empty) >= LARGEST:
            raise TooLargeError
        self.letters.append(None)
        self.empty.append([])
        return len(self.empty) - 1

    def of(self, syntax: Syntax) -> tuple[int, int]:
        """The first and the last state of a new part."""
        match syntax:
            case Letter(members):
                begin, end = self.new(), self.new()
                self.letters[begin] = members, end
                return begin, end
            case InTurn(parts):
                return self.in_turn(parts)
            case OneOf(parts):
                begin, end = self.new(), self.new()
                for part in parts:
                    self.between(begin, self.of(part), end)
                return begin, end
            case Repeated(part, least, most):
                return self.repeated(part, least, most)

    def in_turn(self, parts: Iterable[Syntax]) -> tuple[int, int]:
        """One part after another."""
        begin = end = self.new()
        for part in parts:
            first, last = self.of(part)
            self.empty[end].append(first)
            end = last
        return begin, end

    def repeated(self, part: Syntax, least: int, most: int | None) -> tuple[int, int]:
        """The part as often as it must come, and then as often as it may."""
        begin, at = self.in_turn(part for _ in range(least))
        end = self.new()
        self.empty[at].append(end)
        if most is None:
            self.between(at, self.of(part), at)
        for _ in range(0 if most is None else most - least):
            first, last = self.of(part)
            self.empty[at].append(first)
            self.empty[last].append(end)
            at = last
        return begin, end

    def between(self, begin: int, part: tuple[int, int], end: int) -> None:
        """Put a part between two states."""
        self.empty[begin].append(part[0])
        self.empty[part[1]].append(end)

    def closed(self, states: Iterable[int]) -> frozenset[int]:
        """All states that some lead to by nothing, themselves among them."""
        found, rest = set[int](), list(states)
        while rest:
            if (state := rest.pop()) not in found:
                found.add(state)
                rest += self.empty[state]
        return frozenset(found)


def determined(fragments: Fragments, begin: int, end: int, alphabet: Alphabet) -> Machine:
    """Rabin and Scott's construction: a state is a set of states of the fragments.

    Letters that are in the same sets of the pattern are of one kind.
    """
    kinds, examples = alike(fragments, alphabet)
    order = [fragments.closed([begin])]
    numbers, table = {order[0]: 0}, list[list[int]]()
    for states in order:  # which grows on the way
        steps = [step for state in states if (step := fragments.letters[state])]
        row = list[int]()
        for letter in examples:
            after = fragments.closed(end for members, end in steps if letter in members)
            if after and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            row.append(numbers.get(after, -1))
        table.append(row)
        if len(order) > LARGEST:
            raise TooLargeError
    return Machine(table, kinds, [n for n, states in enumerate(order) if end in states])


def alike(fragments: Fragments, alphabet: Alphabet) -> tuple[list[int], list[int]]:
    """The kind of each letter, by which sets of the pattern it is in, and a letter of each kind."""
    sets = [*{step[0] for step in fragments.letters if step}]
    found: dict[tuple[bool, ...], int] = {}
    kinds, examples = list[int](), list[int]()
    for letter in range(len(alphabet.numbers)):
        kind = tuple(letter in members for members in sets)
        if kind not in found:
            found[kind] = len(examples)
            examples.append(letter)
        kinds.append(found[kind])
    return kinds, examples
