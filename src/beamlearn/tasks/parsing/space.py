"""Parsing as search: transitions that build a tree over the words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...search.neighbors import Move
from ...search.oracle import Oracle
from ...search.space import Expansion, SearchSpace
from ..stream import ENDLESS
from .action_names import ActionNames
from .actions import LOST, Actions
from .building import build
from .gold import Gold
from .settings import Cost
from .system import AnySystem, Parsed


@dataclass(frozen=True)
class ParsingExample:
    """A sentence in numbers."""

    features: Int[Tensor, "words f"]
    """What a scorer sees of each word."""
    heads: Int[Tensor, " words"] | None = None
    """The right heads, where they are known; `LOST` where no action makes the right arc."""
    relations: Int[Tensor, " words"] | None = None
    projective: bool = True
    ended: bool = True
    """False: more words may come, and no word is the last one."""
    words: tuple[str, ...] = ()
    """The words themselves, to name actions by; empty where nobody looks."""

    def __len__(self) -> int:
        return self.features.shape[0]


@final
class ParsingSpace(SearchSpace[Parsed]):
    """The parses of a batch of sentences."""

    def __init__(
        self,
        sentences: Sequence[ParsingExample],
        system: AnySystem,
        actions: Actions,
        cost: Cost = "labeled",
        device: torch.device | str = "cpu",
    ) -> None:
        if not sentences:
            raise ValueError("`sentences` must have at least one sentence, got none.")
        self.system, self.actions = system, actions
        self.words = [s.words for s in sentences]
        self._names: dict[int, ActionNames] = {}
        self.features = _numbered([s.features for s in sentences], 0).to(device)
        lengths = [len(s) if s.ended else ENDLESS for s in sentences]
        self.lengths = torch.tensor(lengths, device=device)
        self.gold: Gold | None = None
        if all(s.heads is not None for s in sentences):
            self.gold = Gold(
                _numbered([s.heads for s in sentences if s.heads is not None], LOST).to(device),
                _numbered([s.relations for s in sentences if s.relations is not None], 0).to(
                    device
                ),
                self.lengths,
                actions,
                cost,
                all(s.projective for s in sentences),
            )
        self.max_steps = system.steps(max(len(s) for s in sentences)) + 1

    def __len__(self) -> int:
        return len(self.lengths)

    def initial(self) -> Parsed:
        nodes: Parsed = self.system.initial(self.lengths)
        return nodes

    def expand(self, nodes: Parsed) -> Expansion:
        kinds = self.system.legal(nodes)
        legal, terminal = self.actions.spread(kinds), self.actions.terminal[None, None]
        return Expansion(len(self.actions), terminal, legal, ~kinds[..., :-1].any(dim=-1))

    def advance(self, nodes: Parsed, move: Move) -> Parsed:
        after: Parsed = self.system.advance(nodes, move, self.actions.kind_of[move.actions])
        return after

    def outputs(
        self, examples: Sequence[int], actions: Sequence[Sequence[int]]
    ) -> list[list[tuple[int, str]]]:
        """The head and the relation of each word; `LOST` and nothing while it has none."""
        if not examples:
            return []
        steps = max(map(len, actions))
        taken = torch.tensor([[*path, *[-1] * (steps - len(path))] for path in actions]).long()
        lengths = self.lengths[torch.tensor(examples, device=self.lengths.device)]
        taken = taken.view(len(examples), 1, steps).to(lengths.device)
        heads, makers = (f[:, 0].tolist() for f in build(self.system, self.actions, lengths, taken))
        names = (*self.actions.names, "")  # the last is that of LOST
        return [
            [(head, names[maker]) for head, maker in zip(*words, strict=True)][1 : length + 1]
            for *words, length in zip(heads, makers, lengths.tolist(), strict=True)
        ]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        if not self.words[example]:
            return self.actions.name(actions[-1])
        if example not in self._names:
            self._names[example] = ActionNames(self.system, self.actions, self.words[example])
        return self._names[example].name(actions)

    def cost(self, example: int, output: Sequence[tuple[int, str]]) -> float | None:
        """How many words have a wrong head or, with labels, a wrong head or relation."""
        return None if self.gold is None else float(self.gold.errors(example, output))

    def oracle(self) -> Oracle:
        if self.gold is None:
            return super().oracle()
        return self.system.oracle(self.system.initial(self.lengths), self.gold)


def _numbered(rows: list[Tensor], filler: int) -> Tensor:
    """One row per sentence, in which the first word has number 1."""
    padded = pad_sequence(rows, batch_first=True, padding_value=filler)
    sides = (0, 0) * (padded.dim() - 2) + (1, 0)
    return torch.nn.functional.pad(padded, sides, value=filler)
