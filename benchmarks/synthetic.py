"""A tagging problem of fixed length with a small recurrent scorer, for timing the engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from beamlearn import Expansion, Move, Oracle, Scorer, SearchSpace

EMBEDDING, HIDDEN, ACTIONS = 64, 256, 200
BATCH, LENGTH = 32, 25
WORDS = 1000


@final
class FixedLength(SearchSpace[int]):
    """Sequences of one tag per word. A node is told by how many tags it has."""

    def __init__(self, words: Tensor, tags: Tensor) -> None:
        self.words, self.tags = words, tags

    def __len__(self) -> int:
        return self.words.shape[0]

    def initial(self) -> int:
        return 0

    def expand(self, nodes: int) -> Expansion:
        last = nodes == self.words.shape[1] - 1
        return Expansion(ACTIONS, torch.full((1, 1, 1), last, device=self.words.device))

    def advance(self, nodes: int, move: Move) -> int:
        return nodes + 1

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[Any]:
        return [tuple(path) for path in actions]

    def oracle(self) -> Oracle:
        return Hamming(self.tags)


@final
class Hamming(Oracle):
    """The number of wrong tags; what is still to come can be right."""

    def __init__(self, tags: Tensor) -> None:
        self.tags = tags
        self.actions = torch.arange(ACTIONS, device=tags.device)

    def initial(self) -> Tensor:
        return torch.zeros(len(self.tags), device=self.tags.device)

    def start(self) -> Tensor:
        return self.initial()[:, None]

    def costs(self, memory: Tensor, nodes: int) -> Tensor:
        wrong = self.actions != self.tags[:, nodes, None]
        return memory[..., None] + wrong[:, None]

    def advance(self, memory: Tensor, nodes: int, move: Move) -> Tensor:
        wrong = move.actions != move.keep(self.tags)[:, nodes - 1, None]
        return move.follow(memory) + wrong


@dataclass(frozen=True)
class Memory:
    """The recurrent state of each hypothesis, and the words of each example."""

    hidden: Tensor
    cell: Tensor
    words: Tensor


@final
class Recurrent(Scorer):
    """An LSTM over words and previous tags; its state tells the score of the next tag."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(WORDS, EMBEDDING)
        self.tag = nn.Embedding(ACTIONS + 1, EMBEDDING)  # the last one is that of no tag
        self.cell = nn.LSTMCell(EMBEDDING, HIDDEN)
        self.out = nn.Linear(HIDDEN, ACTIONS)

    def start(self, space: FixedLength) -> Memory:
        words = self.word(space.words)
        none = torch.full((len(space), 1), ACTIONS, device=words.device)
        zeros = words.new_zeros(len(space), 1, HIDDEN)
        return self.read(Memory(zeros, zeros, words), none, 0)

    def score(self, memory: Memory, nodes: int) -> Tensor:
        scores: Tensor = self.out(memory.hidden)
        return scores

    def advance(self, memory: Memory, nodes: int, move: Move) -> Memory:
        hidden, cell = move.follow(memory.hidden), move.follow(memory.cell)
        return self.read(Memory(hidden, cell, move.keep(memory.words)), move.actions, nodes)

    def read(self, memory: Memory, tags: Tensor, step: int) -> Memory:
        """Take in the tags that were chosen and the word that comes next."""
        inputs = memory.words[:, step, None] + self.tag(tags)
        states = (field.flatten(0, 1) for field in (memory.hidden, memory.cell))
        hidden, cell = self.cell(inputs.flatten(0, 1), tuple(states))
        shape = tags.shape
        return Memory(hidden.unflatten(0, shape), cell.unflatten(0, shape), memory.words)


def sentences(seed: int = 0, batch: int = BATCH) -> FixedLength:
    """Random words with random tags."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(WORDS, (batch, LENGTH), generator=generator)
    tags = torch.randint(ACTIONS, (batch, LENGTH), generator=generator)
    return FixedLength(words, tags)
