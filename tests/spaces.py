"""Search spaces of every kind that the interfaces were made for, as small as they can be."""

from dataclasses import dataclass

import torch

import beamlearn as bl
from beamlearn import Expansion


@dataclass(frozen=True)
class Words:
    """Which sentence each row is, and how far all of them are."""

    examples: torch.Tensor
    step: int


class TaggingSpace(bl.SearchSpace[Words]):
    """One tag per word; rows of different lengths."""

    def __init__(self, gold, tags):
        self.gold, self.tags = gold, tags
        self.lengths = torch.tensor([len(row) for row in gold])

    def __len__(self):
        return len(self.gold)

    def initial(self):
        return Words(torch.arange(len(self.gold)), 0)

    def expand(self, nodes):
        lengths = self.lengths[nodes.examples][:, None, None]
        # Only the empty sentence, whose initial node is terminal, has no legal tag.
        legal = None if nodes.step else lengths > 0
        return Expansion(self.tags, lengths == nodes.step + 1, legal)

    def advance(self, nodes, move):
        return Words(move.keep(nodes.examples), nodes.step + 1)

    def outputs(self, examples, actions):
        return [list(path) for path in actions]

    def oracle(self):
        return HammingOracle(self)


class HammingOracle(bl.Oracle):
    """Wrong tags so far, plus one for every action but the right one."""

    def __init__(self, space):
        width = max(1, int(space.lengths.max()))
        self.gold = torch.tensor([row + [0] * (width - len(row)) for row in space.gold])
        self.tags = space.tags

    def initial(self):
        return torch.zeros(len(self.gold), dtype=torch.float64)

    def start(self):
        return torch.zeros(len(self.gold), 1, dtype=torch.float64)

    def costs(self, memory, nodes):
        right = self.gold[nodes.examples, nodes.step]
        wrong = torch.arange(self.tags) != right[:, None, None]
        return memory[..., None] + wrong

    def advance(self, memory, nodes, move):
        right = self.gold[nodes.examples, nodes.step - 1]
        return move.follow(memory) + (move.actions != right[:, None])


class HammingTask:
    """Batches are lists of gold tag sequences."""

    def __init__(self, tags):
        self.tags = tags

    def space(self, batch):
        return TaggingSpace(batch, self.tags)


class TableScorer(bl.Scorer):
    """A number for every position, last tag and tag; the memory is the last tag."""

    def __init__(self, table, accumulate=True, normalize=None):
        super().__init__()
        self.table, self.accumulate, self.normalize = table, accumulate, normalize

    def start(self, space):
        return torch.full((len(space), 1), self.table.shape[1] - 1)

    def score(self, memory, nodes):
        return self.table[nodes.step][memory]

    def advance(self, memory, nodes, move):
        return move.actions
