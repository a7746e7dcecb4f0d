"""What the actions of a parser do to the words of a sentence, for people to read."""

from collections.abc import Sequence
from typing import final

import torch

from ...search.neighbors import Move
from .actions import Actions
from .system import NONE, AnySystem, Parsed

MOVED = {"shift": ("b0", "j"), "reduce": ("s0",), "pass": ("i",)}
"""The positions of the word that a transition without an arc is about, by system."""


@final
class ActionNames:
    """Names with words, such as "left det: dog → the".

    Configurations are kept, as names are asked for one action after another.
    """

    def __init__(self, system: AnySystem, actions: Actions, words: Sequence[str]) -> None:
        self.system, self.actions, self.words = system, actions, words
        lengths = torch.tensor([len(words)], device=actions.kind_of.device)
        self.reached: dict[tuple[int, ...], Parsed] = {(): system.initial(lengths)}

    def name(self, taken: Sequence[int]) -> str:
        """The name of the last action of a path."""
        *before, action = taken
        nodes, kind = self.after(tuple(before)), int(self.actions.kind_of[action])
        dependent, head = (int(field[0, 0, kind]) for field in self.system.arcs(nodes))
        name = self.actions.name(action)
        if dependent != NONE:
            arrow = "" if head == NONE else f"{self.words[head - 1]} → "
            return f"{name}: {arrow}{self.words[dependent - 1]}"
        word = self.moved(nodes, self.actions.kinds[kind].name)
        return name if word == NONE else f"{name}: {self.words[word - 1]}"

    def moved(self, nodes: Parsed, kind: str) -> int:
        """The word that a transition without an arc is about."""
        seen = zip(self.system.positions, self.system.words(nodes)[0, 0].tolist(), strict=True)
        return next((word for position, word in seen if position in MOVED[kind]), NONE)

    def after(self, taken: tuple[int, ...]) -> Parsed:
        """The configuration after a path; that after all but its last action is known."""
        if taken not in self.reached:
            nodes, action = self.after(taken[:-1]), taken[-1:]
            chosen = torch.tensor([action], device=self.actions.kind_of.device)
            slot, no = torch.zeros_like(chosen), torch.zeros_like(chosen, dtype=torch.bool)
            move = Move(None, slot, chosen, no, no)
            self.reached[taken] = self.system.advance(nodes, move, self.actions.kind_of[chosen])
        return self.reached[taken]
