"""BLEU and chrF: c* by way of the best end of a reference."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .ngram_tables import FIRST, NOTHING, STRANGE, Counted, NgramTables, tables_of
from .space import END, References, Targets, TransductionPosition

ENTRIES_AT_ONCE = 1 << 24
"""Neighbors are costed in parts whose tables have no more entries than about this."""


@dataclass(frozen=True)
class Agreement:
    """How outputs agree with references, for each order of n-grams."""

    matches: Int[Tensor, "batch k refs orders ends"]
    output: Int[Tensor, "batch k refs orders ends"]
    """How many n-grams the output has."""
    reference: Int[Tensor, "batch 1 refs orders 1"]
    """How many the reference has."""


class NgramOracle(Oracle):
    """c*, as far as outputs go that end like a reference.

    c*(END) = 1 - metric(prefix, y), and for a token a
    c*(a) = min over j of 1 - metric(prefix + a + y[j:], y)
    over all references y, each by itself, and all of their ends (including the empty one) that
    the limit of the output's length leaves room for.

    Inexact: a better completion may end otherwise. Every action is spelled as a sequence of
    units, and n-grams are those of units. One token stands for all that are in no reference of
    an example: it has their mean length, and matches nothing. `UNSEEN` tokens of a reference are
    spelled like it. Once an action is taken, its own spelling counts.
    """

    exact = False
    tolerance = 1e-6
    orders: int

    def __init__(
        self, space: Targets, spelling: Sequence[Sequence[int]] | Int[Tensor, "a longest"]
    ) -> None:
        self.actions = space.actions
        self.limits = space.limits if space.actions > 1 else torch.zeros_like(space.limits)
        self.spelling = _spelling(spelling, space.actions).to(self.limits.device)
        self.spelled = (self.spelling != NOTHING).sum(dim=-1)
        self.tables = tables_of(space.references, self.spelling, self.spelled, self.orders)
        self.candidates = _candidates(space.references, space.actions)

    @abstractmethod
    def metric(self, agreement: Agreement) -> Float[Tensor, "batch k refs ends"]:
        """How good outputs are, from 0 to 1."""

    def initial(self) -> Float[Tensor, " batch"]:
        return self._through_ends(self.start(), self.tables, self.limits[:, None])[:, 0]

    def start(self) -> Counted:
        batch, refs, orders, slots = self.tables.sorted.shape
        none = self.limits.new_zeros(batch, 1)
        counts = none.new_zeros(batch, 1, refs, orders, slots, dtype=torch.int32)
        return Counted(counts, none.new_full((batch, 1, orders - 1), NOTHING), none)

    def costs(self, memory: Counted, nodes: TransductionPosition) -> Float[Tensor, "batch k a"]:
        tables, candidates = self.tables.take(nodes.examples), self.candidates[nodes.examples]
        room = (self.limits[nodes.examples] - nodes.length - 1).clamp(min=0)
        rooms = torch.where(candidates == END, 0, room[:, None])
        crossing = memory.length.shape[1] * tables.starts.numel() * self.orders**2
        entries = candidates.shape[1] * max(memory.counts.numel(), crossing)
        parts = (part.chunk(entries // ENTRIES_AT_ONCE + 1, dim=1) for part in (candidates, rooms))
        found = [self._with(memory, tables, *part) for part in zip(*parts, strict=True)]
        values = torch.cat(found, dim=-1)
        table = values[..., 1:2].repeat(1, 1, self.actions)
        index = candidates.masked_fill(candidates == self.actions, END)[:, None]
        table = table.scatter(-1, index.expand(values.shape), values)
        table[..., END] = values[..., 0]
        return table

    def advance(self, memory: Counted, nodes: TransductionPosition, move: Move) -> Counted:
        kept = Counted(*map(move.follow, (memory.counts, memory.recent, memory.length)))
        return self._append(kept, self.tables.take(nodes.examples), move.actions)

    def _with(
        self,
        memory: Counted,
        tables: NgramTables,
        tokens: Int[Tensor, "batch c"],
        room: Int[Tensor, "batch c"],
    ) -> Float[Tensor, "batch k c"]:
        """The cost of each hypothesis with each token."""
        k, c = memory.length.shape[1], tokens.shape[1]
        each = torch.arange(k, device=tokens.device).repeat_interleave(c)
        every = Counted(memory.counts[:, each], memory.recent[:, each], memory.length[:, each])
        longer = self._append(every, tables, tokens.repeat(1, k))
        return self._through_ends(longer, tables, room.repeat(1, k)).view(-1, k, c)

    def _append(
        self, memory: Counted, tables: NgramTables, tokens: Int[Tensor, "batch k"]
    ) -> Counted:
        return tables.append(memory, self.spelling[tokens], self.spelled[tokens])

    def _through_ends(
        self, memory: Counted, tables: NgramTables, room: Int[Tensor, "batch k"]
    ) -> Float[Tensor, "batch k"]:
        """The cost of outputs that go on with the best end of at most `room` tokens."""
        matches = tables.matches(memory)
        fewer = torch.arange(self.orders, device=room.device)[:, None]
        whole = tables.length[:, None, :, None, None]
        length = memory.length[..., None, None, None] + whole - tables.starts[:, None, :, None]
        output, reference = ((units - fewer).clamp(min=0) for units in (length, whole))
        costs = 1 - self.metric(Agreement(matches, output, reference))
        allowed = (tables.tokens >= 0)[:, None] & (tables.tokens[:, None] <= room[..., None, None])
        return costs.masked_fill(~allowed, torch.inf).amin(dim=(-1, -2))


@final
class BleuOracle(NgramOracle):
    """c* under 1 - BLEU of tokens, as far as outputs go that end like a reference.

    BLEU = brevity * (p_1 p_2 p_3 p_4)^(1/4), brevity = exp(min(0, 1 - |y| / |output|))
    p_1 = matches / output, p_n = (matches + 1) / (output + 1) for n > 1

    The same as SacreBLEU's for sentences with `smooth_method="add-k", smooth_value=1`, against one
    reference at a time. See `NgramOracle`.
    """

    orders = 4

    def __init__(self, space: Targets) -> None:
        super().__init__(space, torch.arange(space.actions)[:, None])

    def metric(self, agreement: Agreement) -> Float[Tensor, "batch k refs ends"]:
        added = (torch.arange(self.orders, device=agreement.matches.device) > 0).int()[:, None]
        precision = (agreement.matches + added) / (agreement.output + added).clamp(min=1)
        ratio = agreement.reference[..., 0, :] / agreement.output[..., 0, :].clamp(min=1)
        return ((1 - ratio).clamp(max=0) + precision.log().mean(dim=-2)).exp()


@final
class ChrfOracle(NgramOracle):
    """c* under 1 - chrF, as far as outputs go that end like a reference.

    chrF = 5 p r / (4 p + r), with p and r the means of matches / output and matches / reference
    over the orders 1 to 6 of which both have n-grams

    `spelling` lists the characters of every action as numbers from 0 up, without white space; a
    tensor is filled up with -1. The same as SacreBLEU's chrF for sentences. See `NgramOracle`.
    """

    orders = 6

    def metric(self, agreement: Agreement) -> Float[Tensor, "batch k refs ends"]:
        matches, output, reference = agreement.matches, agreement.output, agreement.reference
        orders = ((output > 0) & (reference > 0)).sum(dim=-2).clamp(min=1)
        p, r = (
            (matches / total.clamp(min=1)).sum(dim=-2) / orders for total in (output, reference)
        )
        return 5 * p * r / (4 * p + r).clamp(min=torch.finfo(p.dtype).tiny)


def _spelling(
    spelling: Sequence[Sequence[int]] | Int[Tensor, "a longest"], actions: int
) -> Int[Tensor, "spellings units"]:
    """The units of every action, none for `END`; at last those of the stand-in."""
    if len(spelling) != actions:
        raise ValueError(
            f"`spelling` must have a row for each of {actions} actions, including `END`, got "
            f"{len(spelling)}."
        )
    if not isinstance(spelling, Tensor):
        rows = [torch.tensor(row, dtype=torch.long) for row in spelling]
        spelling = pad_sequence(rows, batch_first=True, padding_value=-1)
    units = torch.where(spelling < 0, NOTHING, spelling + FIRST)
    units[END] = NOTHING
    if units.shape[1] == 0:
        units = pad(units, (0, 1))
    lengths = (units[END + 1 :] != NOTHING).sum(dim=-1).double()
    mean = max(1, round(float(lengths.mean()))) if actions > 1 else 1
    stand_in = torch.arange(units.shape[1], device=units.device) < mean
    return torch.cat([units, torch.where(stand_in, STRANGE, NOTHING)[None]])


def _candidates(references: References, actions: int) -> Int[Tensor, "batch c"]:
    """Of each example `END`, the stand-in (numbered `actions`), and the tokens of its references.

    Each is listed once; then the stand-in fills up.
    """
    tokens = references.tokens.flatten(1)
    tokens = tokens.masked_fill(tokens <= END, actions).sort(dim=-1).values
    again = pad(tokens[:, 1:] == tokens[:, :-1], (1, 0))[:, : tokens.shape[1]]
    tokens = tokens.masked_fill(again, actions).sort(dim=-1).values
    most = int((tokens < actions).sum(dim=-1).max())
    always = tokens.new_tensor([END, actions]).expand(tokens.shape[0], 2)
    return torch.cat([always, tokens[:, :most]], dim=1)
