"""Transduction as search: one token after another, until the end is chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...search.neighbors import Move
from ...search.oracle import Oracle
from ...search.space import Expansion, Finish, SearchSpace
from ...search.steps_left import StepsLeft

END = 0
"""The action that ends an output; every other action appends the token with its number."""
UNSEEN = -1
"""The number of a reference's token that no action stands for."""
PADDING = -2
"""What fills references up to the longest."""
Distance = Callable[[Sequence[int], Sequence[int]], float]
"""What an output costs by one reference."""


@dataclass(frozen=True)
class TransductionExample:
    """A pair of sequences in numbers."""

    source: Int[Tensor, " symbols"]
    """What a scorer reads; never empty, as it ends with a symbol of its own."""
    references: tuple[Int[Tensor, " _"], ...] = ()
    """The right outputs, where they are known, without `END`; all are equally good."""
    texts: tuple[str, ...] = ()
    """The same as texts, where the cost is one of texts."""

    def __len__(self) -> int:
        return self.source.shape[0]


@dataclass(frozen=True)
class TransductionPosition:
    """The nodes of a beam: every hypothesis that is not finished has equally many tokens."""

    examples: Int[Tensor, " batch"]
    length: int


@dataclass(frozen=True)
class References:
    """The right outputs of a batch."""

    tokens: Int[Tensor, "batch refs tokens"]
    """`PADDING` after the end of each, and where there is none."""
    lengths: Int[Tensor, "batch refs"]
    there: Bool[Tensor, "batch refs"]
    """Which of them exist; every example has at least one."""


@runtime_checkable
class Targets(Protocol):
    """What completion costs depend on, whatever model writes the outputs."""

    @property
    def actions(self) -> int:
        """How many actions there are, `END` among them."""

    @property
    def limits(self) -> Int[Tensor, " batch"]:
        """How many tokens an output may have."""

    @property
    def references(self) -> References:
        """The right outputs."""


@final
class TransductionSpace(SearchSpace[TransductionPosition]):
    """The outputs of a batch of sources: sequences of at most `limits` tokens, then `END`.

    `costs` makes the oracle of a space whose references are known; `distance`, where it is known,
    is the cost of an output by a single reference. There are `actions` actions, `END` among them;
    `names` are those of the tokens, for people.
    """

    def __init__(
        self,
        batch: Sequence[TransductionExample],
        actions: int,
        limits: Sequence[int],
        costs: "Callable[[TransductionSpace], Oracle]",
        *,
        distance: Distance | None = None,
        finish: Finish = "pad",
        device: torch.device | str = "cpu",
        names: Sequence[str] | None = None,
    ) -> None:
        if not batch:
            raise ValueError("`batch` must have at least one source, got none.")
        self.batch, self.actions, self.costs, self.finish = batch, actions, costs, finish
        self.names, self.distance = names, distance
        self.sources = pad_sequence([e.source for e in batch], batch_first=True).to(device)
        self.lengths = torch.tensor([len(e) for e in batch], device=device)
        self.limits = torch.tensor(limits, device=device)
        self.shortest, self.max_steps = min(limits), max(limits) + 2
        self.end = (torch.arange(actions, device=device) == END)[None, None]
        self.wordless = self.end.all(dim=-1)

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def references(self) -> References:
        """The right outputs."""
        device = self.lengths.device
        several = max(len(e.references) for e in self.batch)
        lengths = [[len(r) for r in e.references] for e in self.batch]
        longest = max(map(max, lengths))
        tokens = torch.full((len(self), several, longest), PADDING)
        for row, example in enumerate(self.batch):
            for place, reference in enumerate(example.references):
                tokens[row, place, : len(reference)] = reference
        padded = [row + [-1] * (several - len(row)) for row in lengths]
        counts = torch.tensor(padded, device=device)
        return References(tokens.to(device), counts.clamp(min=0), counts >= 0)

    @cached_property
    def filled(self) -> Bool[Tensor, "batch symbols"] | None:
        """Where sources have symbols; None: everywhere, as all are equally long."""
        longest = self.sources.shape[1]
        if all(len(example) == longest for example in self.batch):
            return None
        places = torch.arange(longest, device=self.lengths.device)
        return places < self.lengths[:, None]

    def initial(self) -> TransductionPosition:
        return TransductionPosition(torch.arange(len(self), device=self.lengths.device), 0)

    def expand(self, nodes: TransductionPosition) -> Expansion:
        if nodes.length < self.shortest:
            return Expansion(self.actions, self.end, ending=self.wordless)
        full = (self.limits[nodes.examples] <= nodes.length)[:, None]
        return Expansion(self.actions, self.end, self.end | ~full[..., None], full)

    def advance(self, nodes: TransductionPosition, move: Move) -> TransductionPosition:
        return TransductionPosition(move.keep(nodes.examples), nodes.length + 1)

    def steps_left(self, nodes: TransductionPosition) -> StepsLeft:
        """As many tokens as the limit allows, and `END`."""
        most = self.limits[nodes.examples] - nodes.length + 1
        return StepsLeft(torch.ones_like(most), most)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[list[int]]:
        """Tokens without `END`."""
        return [[token for token in tokens if token != END] for tokens in actions]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        token = actions[-1]
        if token == END:
            return "end"
        return str(token) if self.names is None else self.names[token - 1]

    def input(self, example: int) -> TransductionExample:
        return self.batch[example]

    def cost(self, example: int, output: Sequence[int]) -> float | None:
        """The distance to the nearest reference."""
        references = self.batch[example].references
        if self.distance is None or not references:
            return None
        return min(self.distance(output, reference.tolist()) for reference in references)

    def oracle(self) -> Oracle:
        return self.costs(self) if all(e.references for e in self.batch) else super().oracle()
