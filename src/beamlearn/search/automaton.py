"""Automaton: a regular set of outputs, as a table of states and actions."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..check import UsageError, quoted
from .completions import Completions, edges_of, preceding
from .constraint import Constraint
from .neighbors import Move
from .regex.alphabet import Characters, Words
from .regex.machine import machine_of
from .regex.pattern import PatternError
from .spelling import spelled
from .steps_left import StepsLeft

NOWHERE = -1
"""What stands in a table where an action is not legal."""


class NoOutputError(UsageError):
    """An automaton that accepts nothing."""


@final
class Automaton(Constraint):
    """A deterministic finite automaton over action numbers; it begins in state 0.

    `table[s][a]` is the state after action a in state s, or -1 where a is not legal. An output is
    in the set if its actions lead to an `accepting` state. Steps to states from which none of
    these can be reached are not legal either, so no search runs into a dead end.

    Actions that do the same in every state are of one kind, and the table is kept by kinds.

    >>> ones = Automaton([[0, 1], [-1, 0]], accepting=[0])
    >>> ones.accepts([0, 1, 1]), ones.accepts([1])
    (True, False)
    """

    def __init__(
        self,
        table: Sequence[Sequence[int]] | Int[Tensor, "states actions"],
        accepting: Iterable[int],
    ) -> None:
        self.next, self.kinds = _by_kinds(_checked(table))
        self.actions = len(self.kinds)
        self.accepting = torch.zeros(len(self.next), dtype=torch.bool, device=self.next.device)
        self.accepting[_states(accepting, len(self.next))] = True
        self._remove_dead_ends()

    @classmethod
    def from_regex(
        cls,
        pattern: str,
        symbols: Sequence[str],
        *,
        words: bool = False,
        first: Sequence[str] | None = None,
    ) -> "Automaton":
        """The outputs whose text matches a regular expression, as `re.fullmatch` would say.

        Action i appends `symbols[i]` to the text; an empty symbol is never legal. The pattern has
        characters, `.`, classes, groups, `|`, `*`, `+`, `?` and `{m,n}`. With `words`, its letters
        are whole symbols with spaces between them, as in `DET (ADJ|NOUN)* NOUN`. Where symbols have
        another text at the beginning of an output, that is `first`.

        >>> plural = Automaton.from_regex("a(n|na)*s", ["a", "an", "na", "nas", "s"])
        >>> plural.accepts([1, 3]), plural.accepts([0, 0])
        (True, False)
        >>> Automaton.from_regex("DET? NOUN+", ["NOUN", "DET"], words=True).accepts([1, 0, 0])
        True
        """
        alphabet = Words.of(symbols) if words else Characters.of([*symbols, *(first or ())])
        machine = machine_of(pattern, alphabet)
        table, accepting = torch.tensor(machine.table)[:, machine.kinds], machine.accepting
        if not words:
            table, accepting = spelled(table, accepting, alphabet.numbers, symbols, first)
        try:
            return cls(table, accepting)
        except NoOutputError as error:
            raise PatternError(
                "`pattern` must match an output that can be written with the symbols there are, "
                f"got {quoted(pattern)}, which matches none; change it.",
                "pattern",
            ) from error

    @classmethod
    def bio(cls, tags: Sequence[str]) -> "Automaton":
        """The sequences of BIO tags in which I-X continues an X and never begins one.

        >>> spans = Automaton.bio(["B-X", "I-X", "O"])
        >>> spans.accepts([0, 1, 2]), spans.accepts([2, 1])
        (True, False)
        """
        types = ["", *dict.fromkeys(tag[2:] for tag in tags if tag[2:])]
        after = torch.tensor([types.index(tag[2:]) for tag in tags])
        inside = torch.tensor([tag.startswith("I-") for tag in tags])
        elsewhere = torch.arange(len(types))[:, None] != after
        table = after.repeat(len(types), 1).masked_fill(inside & elsewhere, NOWHERE)
        return cls(table, range(len(types)))

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.next)

    @property
    def table(self) -> Int[Tensor, "states actions"]:
        """The state after each state and action; -1 where the action is not legal."""
        return self.next[:, self.kinds]

    @cached_property
    def shortest(self) -> int:
        """How many actions the shortest output has."""
        marked, steps = self.accepting, 0
        while not bool(marked[0]):
            marked, steps = preceding(self._edges, marked), steps + 1
        return steps

    def to(self, device: torch.device | str) -> "Automaton":
        """The same on another device."""
        return self._of(*(part.to(device) for part in (self.next, self.kinds, self.accepting)))

    def ended_by(self, *ends: int) -> "Automaton":
        """The same outputs with one of the actions `ends` after them, which are no part of them."""
        table, last = self.table.clone(), len(self.next)
        table[:, list(ends)] = torch.where(self.accepting, last, NOWHERE)[:, None]
        over = table.new_full((1, self.actions), NOWHERE)
        return Automaton(torch.cat([table, over]), [last])

    def accepts(self, actions: Iterable[int]) -> bool:
        """Is an output in the set?"""
        state = 0
        for action in actions:
            state = int(self.next[state, self.kinds[action]])
            if state == NOWHERE:
                return False
        return bool(self.accepting[state])

    def start(self, batch: int) -> Int[Tensor, "batch 1"]:
        return self.next.new_zeros(batch, 1)

    def legal(
        self, state: Int[Tensor, "batch k"], left: StepsLeft | None = None
    ) -> Bool[Tensor, "batch k a"]:
        after = self.next[state]
        found = after != NOWHERE
        if left is not None:
            possible = self._completions.possible(left.after_one())
            rows = torch.arange(len(state), device=state.device)[:, None, None]
            found = found & possible[rows, after]
        return found.index_select(-1, self.kinds)

    def final(self, state: Int[Tensor, "batch k"]) -> Bool[Tensor, "batch k a"]:
        after = self.next[state]
        found = self.accepting[after] & (after != NOWHERE)
        return found.index_select(-1, self.kinds)

    def advance(self, state: Int[Tensor, "before slots"], move: Move) -> Int[Tensor, "batch k"]:
        after = self.next[move.follow(state), self.kinds[move.actions]]
        return after.clamp(min=0)  # of slots that are not read

    @classmethod
    def _of(cls, next: Tensor, kinds: Tensor, accepting: Tensor) -> "Automaton":
        """The automaton of parts that were checked already."""
        found = cls.__new__(cls)
        found.next, found.kinds, found.accepting = next, kinds, accepting
        found.actions = len(kinds)
        return found

    @cached_property
    def _edges(self) -> Int[Tensor, "edges 2"]:
        return edges_of(self.next)

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self._edges, self.accepting)

    def _remove_dead_ends(self) -> None:
        """Make steps illegal from which no accepting state can be reached."""
        edges, live, before = edges_of(self.next), self.accepting, -1
        while (count := int(live.sum())) > before:
            live, before = live | preceding(edges, live), count
        if not bool(live[0]):
            raise NoOutputError(
                "An automaton must accept at least one output, got one that accepts none; look for "
                "a way from state 0 to an accepting one."
            )
        self.next = self.next.masked_fill(~live[self.next], NOWHERE)


def _checked(table: Sequence[Sequence[int]] | Tensor) -> Int[Tensor, "states actions"]:
    """The table as a tensor; refuse what is none."""
    ragged = not isinstance(table, Tensor) and len({len(row) for row in table}) > 1
    found = torch.as_tensor([] if ragged else table)
    if found.ndim != 2 or 0 in found.shape:
        raise UsageError(
            "The `table` of an automaton must have a row for each state, with a number for each "
            f"action, got the shape {'of rows of several lengths' if ragged else [*found.shape]}."
        )
    low, high = int(found.min()), int(found.max())
    if low < NOWHERE or high >= len(found):
        raise UsageError(
            f"The `table` of an automaton with {len(found)} states must have numbers from -1 to "
            f"{len(found) - 1}, got {low if low < NOWHERE else high}."
        )
    return found


def _states(accepting: Iterable[int], states: int) -> list[int]:
    """The numbers of accepting states; refuse others."""
    found = list(accepting)
    for state in found:
        if not 0 <= state < states:
            raise UsageError(
                f"`accepting` must have numbers of states from 0 to {states - 1}, got {state}."
            )
    return found


def _by_kinds(
    table: Int[Tensor, "states actions"],
) -> tuple[Int[Tensor, "states kinds"], Int[Tensor, " actions"]]:
    """The different columns of a table, and which of them each action has."""
    columns = np.ascontiguousarray(table.cpu().numpy().T)
    bytes_of_each = columns.view(f"V{columns.shape[1] * columns.itemsize}")[:, 0]
    _, first, kinds = np.unique(bytes_of_each, return_index=True, return_inverse=True)
    places, numbers = (torch.from_numpy(part).to(table.device) for part in (first, kinds))
    return table[:, places], numbers
