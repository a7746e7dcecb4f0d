"""Tagging as search: one tag for each word, from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...search.neighbors import Move
from ...search.oracle import Oracle, RightPath
from ...search.space import Expansion, SearchSpace
from ...search.steps_left import StepsLeft
from ..stream import ENDLESS

UNSEEN = -1
"""The number of a tag that no action stands for: to choose right is impossible."""


@dataclass(frozen=True)
class TaggingExample:
    """A sentence in numbers."""

    features: Int[Tensor, "words f"]
    """What a scorer sees of each word."""
    tags: Int[Tensor, " words"] | None = None
    """The right tags, where they are known; `UNSEEN` for those that have no number."""
    ended: bool = True
    """False: more words may come, and no word is the last one."""

    def __len__(self) -> int:
        return self.features.shape[0]


@dataclass(frozen=True)
class TaggingPosition:
    """The nodes of a beam: all examples of the batch are at the same word."""

    examples: Int[Tensor, " batch"]
    word: int
    previous: Int[Tensor, "batch k"] | None = None
    """The last tag of each hypothesis, where tags constrain each other and there is one."""


@final
class TaggingSpace(SearchSpace[TaggingPosition]):
    """The taggings of a batch of sentences.

    `pairs[p, q]` says whether tag q may follow tag p, `first[q]` whether it may begin a
    sentence; None: everything may. `names` are those of the tags, for people.
    """

    def __init__(
        self,
        sentences: Sequence[TaggingExample],
        tags: int,
        pairs: Bool[Tensor, "tags tags"] | None = None,
        first: Bool[Tensor, " tags"] | None = None,
        device: torch.device | str = "cpu",
        names: Sequence[str] | None = None,
    ) -> None:
        if not sentences:
            raise ValueError("`sentences` must have at least one sentence, got none.")
        self.features = _padded([s.features for s in sentences]).to(device)
        lengths = [len(s) if s.ended else ENDLESS for s in sentences]
        self.lengths = torch.tensor(lengths, device=device)
        self.tags = tags
        self.names = names
        self.pairs, self.first = pairs, first
        self.gold: Int[Tensor, "batch words"] | None = None
        if all(s.tags is not None for s in sentences):
            self.gold = _padded([s.tags for s in sentences if s.tags is not None]).to(device)
        self.max_steps = max(len(s) for s in sentences) + 1
        self.some_empty, self.ongoing = 0 in lengths, ENDLESS in lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def initial(self) -> TaggingPosition:
        return TaggingPosition(torch.arange(len(self), device=self.lengths.device), 0)

    def expand(self, nodes: TaggingPosition) -> Expansion:
        lengths = self.lengths if nodes.word == 0 else self.lengths[nodes.examples]
        last = (lengths == nodes.word + 1)[:, None, None]
        legal = None
        if nodes.previous is not None and self.pairs is not None:
            legal = self.pairs[nodes.previous]
        elif nodes.word == 0 and self.first is not None:
            legal = self.first[None, None]
        if self.some_empty and nodes.word == 0:
            filled = (lengths > 0)[:, None, None]
            legal = filled if legal is None else legal & filled
        return Expansion(self.tags, last, legal)

    def advance(self, nodes: TaggingPosition, move: Move) -> TaggingPosition:
        previous = None if self.pairs is None else move.actions
        return TaggingPosition(move.keep(nodes.examples), nodes.word + 1, previous)

    def steps_left(self, nodes: TaggingPosition) -> StepsLeft | None:
        """One action for each word, unless more words may come."""
        if self.ongoing:
            return None
        left = self.lengths[nodes.examples] - nodes.word
        return StepsLeft(left, left)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[list[int]]:
        return [list(tags) for tags in actions]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        tag = actions[-1]
        return str(tag) if self.names is None else self.names[tag]

    def cost(self, example: int, output: Sequence[int]) -> float | None:
        """How many tags are wrong."""
        if self.gold is None:
            return None
        right = self.gold[example, : len(output)].tolist()
        return float(sum(a != b for a, b in zip(output, right, strict=True)))

    def oracle(self) -> Oracle:
        return super().oracle() if self.gold is None else HammingOracle(self, self.gold)


def _padded(rows: list[Tensor]) -> Tensor:
    """One row per sentence, with a first word to look at even where all of them are empty."""
    padded = pad_sequence(rows, batch_first=True)
    return padded if padded.shape[1] else padded.new_zeros(len(rows), 1, *padded.shape[2:])


@final
class HammingOracle(Oracle):
    """c* = wrong tags so far + wrong tags that can no longer be avoided.

    Closed form. Without constraints nothing is unavoidable but tags that have no number; with
    them, the rest of a sentence after tag q at word t is a shortest path:
    rest[t][q] = min over q' that may follow q of [q' is wrong at t] + rest[t + 1][q'].
    """

    def __init__(self, space: TaggingSpace, gold: Int[Tensor, "batch words"]) -> None:
        self.space = space
        self.gold = gold
        self.labels = torch.arange(space.tags, device=gold.device)
        self.rest = _unavoidable(space, gold, self.labels)

    def initial(self) -> Float[Tensor, " batch"]:
        return self.rest[:, 0].amin(dim=-1)

    def path(self) -> RightPath | None:
        """The right tags, unless a rule or a tag without a number stands in their way."""
        space, gold = self.space, self.gold
        words = torch.arange(gold.shape[1], device=gold.device)
        inside = words < space.lengths[:, None]
        ruled = space.pairs is not None or space.first is not None
        if ruled or space.ongoing or bool((inside & (gold == UNSEEN)).any()):
            return None
        right = gold.t()[inside.t()]
        return RightPath(gold, inside, (self.labels != right[:, None]).float())

    def start(self) -> Float[Tensor, "batch 1"]:
        return torch.zeros(len(self.space), 1, device=self.gold.device)

    def costs(
        self, memory: Float[Tensor, "batch k"], nodes: TaggingPosition
    ) -> Float[Tensor, "batch k tags"]:
        right = self.gold[nodes.examples, nodes.word]
        added = (self.labels != right[:, None]) + self.rest[nodes.examples, nodes.word + 1]
        return memory[..., None] + added[:, None]

    def advance(
        self, memory: Float[Tensor, "before slots"], nodes: TaggingPosition, move: Move
    ) -> Float[Tensor, "batch k"]:
        right = self.gold[nodes.examples, nodes.word - 1]
        return move.follow(memory) + (move.actions != right[:, None])


def _unavoidable(
    space: TaggingSpace, gold: Int[Tensor, "batch words"], labels: Int[Tensor, " tags"]
) -> Float[Tensor, "batch places after"]:
    """The errors that the words from each place on must cost, by the tag before the place.

    Where tags do not constrain each other the last axis has one entry, for all tags alike.
    """
    batch, words = gold.shape
    inside = torch.arange(words, device=gold.device) < space.lengths[:, None]
    if space.pairs is None:
        lost = gold == UNSEEN
        if space.first is not None:
            lost[:, 0] |= ~space.first[gold[:, 0]]
        after = (lost & inside).float().flip(1).cumsum(dim=1).flip(1)
        return torch.nn.functional.pad(after, (0, 1))[..., None]
    rest = torch.zeros(batch, words + 1, space.tags, device=gold.device)
    barred = torch.zeros(space.tags, space.tags, device=gold.device)
    barred.masked_fill_(~space.pairs, torch.inf)
    for word in range(words - 1, 0, -1):
        wrong = (labels != gold[:, word, None]) + rest[:, word + 1]
        cheapest = (wrong[:, None] + barred).amin(dim=-1)
        rest[:, word] = cheapest.masked_fill(~inside[:, word, None], 0.0)
    opening = torch.zeros(space.tags, device=gold.device)
    if space.first is not None:
        opening.masked_fill_(~space.first, torch.inf)
    whole = ((labels != gold[:, 0, None]) + rest[:, 1] + opening).amin(dim=-1)
    rest[:, 0] = whole.masked_fill(~inside[:, 0], 0.0)[:, None]
    return rest
