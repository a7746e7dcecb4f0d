"""Trees of tokens: all beginnings of outputs that a model is to score, each token once."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from ..search.visits import Visits


@dataclass(frozen=True)
class TokenTree:
    """For each example a tree of tokens; its root is the last one that the model was given.

    Columns are in step: a column has the same depth in all examples, so that models which count
    places for a whole batch can read trees, too. Where an example has no node in a column, the
    token is 0 and has itself and the root for ancestors.
    """

    tokens: Int[Tensor, "batch columns"]
    """The root is column 0."""
    there: Bool[Tensor, "batch columns"]
    """Where an example has a node."""
    depths: Int[Tensor, " columns"]
    ancestors: Bool[Tensor, "batch columns columns"]
    """Which columns are on the way to each, itself and the root among them."""

    @classmethod
    def bare(cls, roots: Int[Tensor, " batch"]) -> "TokenTree":
        """The roots alone."""
        there = torch.ones_like(roots[:, None], dtype=torch.bool)
        return cls(roots[:, None], there, torch.zeros_like(roots[:1]), there[..., None])

    def __len__(self) -> int:
        """The number of columns."""
        return len(self.depths)

    def with_outputs(self, tokens: Int[Tensor, "batch outputs length"]) -> "TokenTree":
        """With a branch for each of some outputs of every example; ids below 0 fill up."""
        batch, outputs, length = tokens.shape
        depths = torch.arange(1, length + 1, device=tokens.device).repeat(outputs)
        one = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        ancestors = torch.block_diag(*[one] * outputs).bool().expand(batch, -1, -1)
        return self._grown(tokens.flatten(1), depths, ancestors)

    def with_visits(self, visits: Visits) -> "TokenTree":
        """With all nodes of a trajectory that were extended, transition by transition."""
        batch, device = len(visits.actions), visits.actions.device
        widths = widths_of(visits)
        nodes = torch.zeros(batch, sum(widths), dtype=torch.long, device=device)
        place = 0
        for width, beams in zip(widths, visits.slots[1:], strict=True):
            nodes[beams.examples, place : place + width] = beams.nodes
            place += width
        depths = torch.arange(1, len(widths) + 1).repeat_interleave(torch.tensor(widths).long())
        here = torch.arange(batch, device=device)[:, None, None]
        ancestors = visits.ancestors[here, nodes[:, :, None], nodes[:, None]]
        tokens = visits.actions.gather(1, nodes).masked_fill(nodes == 0, -1)
        return self._grown(tokens, depths.to(device), ancestors)

    def _grown(
        self,
        tokens: Int[Tensor, "batch new"],
        depths: Int[Tensor, " new"],
        ancestors: Bool[Tensor, "batch new new"],
    ) -> "TokenTree":
        """More columns, which descend from the root by ways of their own."""
        old, new, there = len(self), len(depths), tokens >= 0
        grown = pad(self.ancestors, (0, new, 0, new))
        itself = torch.eye(new, dtype=torch.bool, device=tokens.device)
        grown[:, old:, old:] = ancestors & there[:, None] & there[..., None] | itself
        grown[:, old:, 0] = True
        return TokenTree(
            torch.cat([self.tokens, tokens.clamp(min=0)], dim=1),
            torch.cat([self.there, there], dim=1),
            torch.cat([self.depths, depths]),
            grown,
        )

    def paths(self) -> "Paths":
        """The same as rows of tokens, one to each leaf."""
        batch, columns = self.tokens.shape
        inner = self.ancestors & ~torch.eye(columns, dtype=torch.bool, device=self.tokens.device)
        inner = (inner & self.there[..., None]).any(dim=1)
        owners, leaves = (self.there & ~inner).nonzero(as_tuple=True)
        rows, at = self.ancestors[owners, leaves].nonzero(as_tuple=True)
        tokens = self.tokens.new_zeros(len(owners), int(self.depths.max()) + 1)
        tokens[rows, self.depths[at]] = self.tokens[owners[rows], at]
        row_of = self.tokens.new_zeros(batch, columns)
        row_of[owners[rows], at] = rows
        return Paths(tokens, owners, row_of)


@dataclass(frozen=True)
class Paths:
    """The ways from the root to each leaf."""

    tokens: Int[Tensor, "rows length"]
    """From the root on; 0 after the end of each."""
    owners: Int[Tensor, " rows"]
    """The example of each row."""
    row_of: Int[Tensor, "batch columns"]
    """A row on which the node in each column of the tree lies; 0 where there is none."""


def widths_of(visits: Visits) -> list[int]:
    """How many columns the beams of each transition have; the first one is at the root."""
    return [beams.nodes.shape[1] for beams in visits.slots[1:]]


def split_beams(
    logits: Float[Tensor, "all columns a"], visits: Visits, first: int
) -> tuple[Float[Tensor, "all first a"], Iterator[Float[Tensor, "batch k a"]]]:
    """The first columns, and the beams of each transition in float32.

    The beam of the first transition is the root, column 0; the others begin at column `first`.
    """
    before, *later = logits.split([first, *widths_of(visits)], dim=1)
    parts = zip([before[:, :1], *later], visits.slots, strict=True)
    return before, (_rows(part, beams.examples).float() for part, beams in parts)


def _rows(
    logits: Float[Tensor, "all k a"], examples: Int[Tensor, " batch"]
) -> Float[Tensor, "batch k a"]:
    """Those of some examples; not copied where that is all of them."""
    return logits if len(examples) == len(logits) else logits.index_select(0, examples)
