"""Stacks of words that share their lower parts: nothing is copied when a beam moves on."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from ...search.neighbors import Move
from .system import Parsed

PLACE, WORD, ATTACHED = range(3)
"""What an item is: its place in the pool, its word, and whether the word has its head."""
ITEM = 3
VISIBLE = 3
"""How many items at the top of a stack can be looked at."""
FRONT = ITEM * VISIBLE


def look_up(
    table: Shaped[Tensor, "examples entries *rest"],
    examples: Int[Tensor, " batch"],
    entries: Int[Tensor, "batch k"],
) -> Shaped[Tensor, "batch k *rest"]:
    """Read a table of each example at some entries for each slot."""
    index = entries + (examples * table.shape[1])[:, None]
    taken = table.flatten(0, 1).index_select(0, index.flatten())
    return taken.view(*entries.shape, *table.shape[2:])


class Pool:
    """The items of all stacks: of each item, by its place, the item below it.

    Every example has places of its own; place 0 is the ground. One transition pushes at most
    one item, so each slot of each beam gets one new place.
    """

    def __init__(self, below: Int[Tensor, "examples places item"], used: int) -> None:
        self.below, self.used = below, used

    def get(
        self, examples: Int[Tensor, " batch"], places: Int[Tensor, "batch k"]
    ) -> Int[Tensor, "batch k item"]:
        """The items below those at `places`."""
        return look_up(self.below, examples, places)

    def put(
        self, used: int, examples: Int[Tensor, " batch"], items: Int[Tensor, "batch k item"]
    ) -> "Pool":
        """Give each slot a place after the first `used` ones, and note what lies below.

        Where others have taken those places meanwhile, the pool is copied.
        """
        end = used + items.shape[1]
        pool = self if self.used == used and end <= self.below.shape[1] else self.copy(2 * end)
        if len(examples) == len(pool.below):
            pool.below[:, used:end] = items
        else:
            pool.below[examples, used:end] = items
        pool.used = end
        return pool

    def copy(self, places: int) -> "Pool":
        """The same with room for more."""
        missing = max(0, places - self.below.shape[1])
        below = torch.nn.functional.pad(self.below, (0, 0, 0, missing))
        return Pool(below.clone() if missing == 0 else below, self.used)


@dataclass(frozen=True)
class Stacked(Parsed):
    """Configurations with a stack, and a buffer of the words from a front on.

    Two hypotheses that were one when an item was pushed share it and all below it.
    """

    fields: Int[Tensor, "batch k fields"]
    """The topmost items one after another, zeros below the lowest; then the front."""
    pool: Pool
    used: int
    """How many places of the pool belong to this past."""

    @classmethod
    def initial(cls, lengths: Int[Tensor, " batch"]) -> "Stacked":
        """Empty stacks, and all words in the buffer."""
        batch, device = len(lengths), lengths.device
        fields = torch.zeros(batch, 1, FRONT + 1, dtype=torch.long, device=device)
        fields[..., FRONT] = 1
        ground = torch.zeros(batch, 1, ITEM, dtype=torch.long, device=device)
        return cls(torch.arange(batch, device=device), lengths, fields, Pool(ground, 1), 1)

    @property
    def s0(self) -> Int[Tensor, "batch k"]:
        """The word on top; `NONE`: the stack is empty."""
        return self.fields[..., WORD]

    @property
    def s1(self) -> Int[Tensor, "batch k"]:
        """The word below it."""
        return self.fields[..., ITEM + WORD]

    @property
    def s2(self) -> Int[Tensor, "batch k"]:
        """The third word."""
        return self.fields[..., 2 * ITEM + WORD]

    @property
    def attached(self) -> Bool[Tensor, "batch k"]:
        """Does the word on top have its head?"""
        return self.fields[..., ATTACHED] > 0

    @property
    def front(self) -> Int[Tensor, "batch k"]:
        """The number of the next word, whether or not there is one."""
        return self.fields[..., FRONT]

    @property
    def waiting(self) -> Bool[Tensor, "batch k"]:
        """Are there words in the buffer?"""
        return self.front <= self.lengths[:, None]

    @property
    def visible(self) -> Int[Tensor, "batch k 4"]:
        """s2, s1, s0 and the next word; `NONE` where there is none."""
        words = self.fields[..., [2 * ITEM + WORD, ITEM + WORD, WORD, FRONT]]
        words[..., 3] *= self.waiting
        return words

    def follow(self, move: Move) -> "Stacked":
        """The configurations of the hypotheses that `move` extends."""
        return replace(
            self,
            examples=move.keep(self.examples),
            lengths=move.keep(self.lengths),
            fields=move.follow(self.fields),
        )

    def item(
        self, word: Int[Tensor, "batch k"], attached: Bool[Tensor, "batch k"] | None = None
    ) -> Int[Tensor, "batch k item"]:
        """A new item for each slot."""
        slots = word.shape[1]
        place = torch.arange(self.used, self.used + slots, device=word.device).expand_as(word)
        flag = torch.zeros_like(word) if attached is None else attached.long()
        return torch.stack([place, word, flag], dim=-1)

    @property
    def below(self) -> Int[Tensor, "batch k item"]:
        """The item below the visible ones."""
        return self.pool.get(self.examples, self.fields[..., FRONT - ITEM + PLACE])

    def pushed(self, item: Int[Tensor, "batch k item"]) -> Int[Tensor, "batch k fields"]:
        """The fields with one item more, and the front one word further."""
        front = self.fields[..., FRONT:] + 1
        return torch.cat([item, self.fields[..., : FRONT - ITEM], front], dim=-1)

    def popped(self) -> Int[Tensor, "batch k fields"]:
        """The fields with one item less."""
        front = self.fields[..., FRONT:]
        return torch.cat([self.fields[..., ITEM:FRONT], self.below, front], dim=-1)

    def become(self, fields: Int[Tensor, "batch k fields"]) -> "Stacked":
        """The configurations with other fields, in which the top may be a new item."""
        pool = self.pool.put(self.used, self.examples, fields[..., ITEM : 2 * ITEM])
        return replace(self, fields=fields, pool=pool, used=pool.used)
