"""The actions of a transition system: its kinds of transitions, with relations."""

from dataclasses import dataclass
from typing import Literal, final

import torch
from jaxtyping import Shaped
from torch import Tensor

LOST = -1
"""The number of what no action can make right: an arc, or a relation."""


@dataclass(frozen=True)
class TransitionKind:
    """A transition, apart from the relation of the arc that it makes."""

    name: str
    arc: Literal["none", "word", "root"] = "none"
    """Does it make an arc, and is the head a word or the root?"""


@final
class Actions:
    """The actions of a system: every kind, with every relation that it can have.

    Relations to words and relations to the root are kept apart: a relation that the training
    data has only in one of the places is predicted only there.
    """

    def __init__(
        self,
        kinds: tuple[TransitionKind, ...],
        relations: tuple[str, ...],
        root_relations: tuple[str, ...],
        device: torch.device | str = "cpu",
    ) -> None:
        self.kinds = kinds
        self.relations = {"none": ("",), "word": relations, "root": root_relations}
        self.counts = [len(self.relations[kind.arc]) for kind in kinds]
        """How many actions each kind has."""
        counts = torch.tensor(self.counts, device=device)
        self.names = tuple(name for kind in kinds for name in self.relations[kind.arc])
        """The relation of each action; empty where it makes no arc."""
        self.kind_of = torch.arange(len(kinds), device=device).repeat_interleave(counts)
        self.to_words = torch.tensor([kind.arc == "word" for kind in kinds], device=device)
        """Which kinds make an arc from a word."""
        self.first = counts.cumsum(0) - counts
        """The first action of each kind."""
        self._numbers = {
            arc: {name: number for number, name in enumerate(names)}
            for arc, names in self.relations.items()
        }
        different = {name: number for number, name in enumerate(dict.fromkeys(self.names))}
        self.relation_of = torch.tensor([different[name] for name in self.names], device=device)
        """A number for the relation of each action, the same in every kind."""
        self.terminal = self.kind_of == len(kinds) - 1
        """Attaching a word to the root is always the last action."""

    def __len__(self) -> int:
        return len(self.names)

    def name(self, action: int) -> str:
        """What an action is called: its kind, and the relation if it makes an arc."""
        return f"{self.kinds[int(self.kind_of[action])].name} {self.names[action]}".rstrip()

    def spread(self, values: Shaped[Tensor, "batch k kinds"]) -> Shaped[Tensor, "batch k a"]:
        """Give every action the value of its kind."""
        parts = zip(values.split(1, dim=-1), self.counts, strict=True)
        return torch.cat([part.expand(*part.shape[:-1], n) for part, n in parts], dim=-1)

    def number(self, relation: str, root: bool) -> int:
        """The number of a relation among those to words, or those to the root; `LOST`: none."""
        return self._numbers["root" if root else "word"].get(relation, LOST)
