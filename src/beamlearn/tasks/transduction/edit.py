"""Edit distance: c* from one row of its table per hypothesis."""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, lcm
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...search.neighbors import Move
from ...search.oracle import Oracle
from .space import END, Targets, TransductionPosition


@final
class EditOracle(Oracle):
    """c* under the edit distance to the nearest reference.

    With D(i, j) the distance between the i tokens so far and the first j of a reference y:
    c*(END) = D(i, |y|), and for a token a, which leaves `room` for as many after it,
    c*(a) = min over j of min(D(i, j) + insertion, D(i, j - 1) + [y_j != a] substitution) + rest(j)
    where rest(j) is the least that the reference after j costs: nothing but for tokens that no
    action stands for, and those that there is no room for.

    Closed form: only tokens of a reference differ from all others. An insertion is a token that
    the reference lacks, a deletion one that the output lacks. Exact for any weights from 0 up:
    everything is counted in whole units, such as tenths for weights with one decimal, so that
    equal costs are equal numbers. Only weights with many decimals are subject to rounding.
    """

    unique: bool
    """Is the cheapest neighbor unique all along the path of the references, whatever the scores?
    True if there is one reference each, which can be produced, and every edit costs something."""

    def __init__(
        self,
        space: Targets,
        insertion: float = 1.0,
        deletion: float = 1.0,
        substitution: float = 1.0,
    ) -> None:
        weights = {"insertion": insertion, "deletion": deletion, "substitution": substitution}
        for name, weight in weights.items():
            _check_weight(weight, name)
        self.units = _units(list(weights.values()))
        self.insertion, self.deletion, self.substitution = (
            float(weight if self.units == 1 else round(weight * self.units))
            for weight in weights.values()
        )
        self.actions, self.references = space.actions, space.references
        self.limits = space.limits if space.actions > 1 else torch.zeros_like(space.limits)
        tokens, lengths = self.references.tokens, self.references.lengths[..., None]
        columns = torch.arange(tokens.shape[-1] + 1, device=tokens.device)
        self.deletions = columns * self.deletion
        self.outside = (columns > lengths) | ~self.references.there[..., None]
        self.known = tokens > END
        known = self.known.flip(-1).cumsum(dim=-1).flip(-1)
        self.known_after = torch.nn.functional.pad(known, (0, 1))
        self.after = (lengths - columns).clamp(min=0)
        if not all(float(weight).is_integer() for weight in weights.values()):
            self.tolerance = ROUNDING * max(weights.values())
        perfect = bool((self.initial() == 0).all())
        self.unique = perfect and tokens.shape[1] == 1 and min(weights.values()) > 0

    def initial(self) -> Float[Tensor, " batch"]:
        examples = torch.arange(len(self.limits), device=self.limits.device)
        return self._rest(examples, self.limits)[..., 0].amin(dim=-1) / self.units

    def start(self) -> Float[Tensor, "batch 1 refs columns"]:
        """D(0, j) = j deletions; infinite where there is no reference."""
        rows = self.deletions.expand(self.outside.shape)
        return rows.masked_fill(self.outside, torch.inf)[:, None]

    def costs(
        self, memory: Float[Tensor, "batch k refs columns"], nodes: TransductionPosition
    ) -> Float[Tensor, "batch k a"]:
        examples = nodes.examples
        room = self.limits[examples] - nodes.length - 1
        rest = self._rest(examples, room.clamp(min=0))[:, None]
        before = _shifted(memory)
        other = torch.minimum(memory + self.insertion, before + self.substitution) + rest
        least = other.amin(dim=(-1, -2)) / self.units
        table = least[..., None].expand(-1, -1, self.actions).clone()
        matched = ((before + rest)[..., 1:] / self.units).masked_fill(
            ~self.known[examples, None], torch.inf
        )
        tokens = self.references.tokens[examples, None].clamp(min=0).expand(matched.shape)
        table.scatter_reduce_(-1, tokens.flatten(2), matched.flatten(2), "amin")
        last = self.references.lengths[examples, None, :, None].expand(*memory.shape[:-1], 1)
        table[..., END] = memory.gather(-1, last).amin(dim=(-1, -2)) / self.units
        return table

    def advance(
        self,
        memory: Float[Tensor, "before slots refs columns"],
        nodes: TransductionPosition,
        move: Move,
    ) -> Float[Tensor, "batch k refs columns"]:
        """D(i + 1, j) = min over j' <= j of E(j') + (j - j') deletion, E the step by one token."""
        rows, examples = move.follow(memory), nodes.examples
        wrong = self.references.tokens[examples, None] != move.actions[..., None, None]
        wrong = torch.nn.functional.pad(wrong.to(rows.dtype), (1, 0))
        stepped = torch.minimum(rows + self.insertion, _shifted(rows) + wrong * self.substitution)
        return (stepped - self.deletions).cummin(dim=-1).values + self.deletions

    def _rest(
        self, examples: Int[Tensor, " batch"], room: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch refs columns"]:
        """The least that each reference from each place on costs, with at most `room` tokens.

        Known tokens are produced first; where there is room left, unknown ones are replaced if
        that is cheaper than to leave them out. Infinite after the end of a reference.
        """
        after, known, room = self.after[examples], self.known_after[examples], room[:, None, None]
        produced = torch.minimum(known, room)
        replaced = torch.minimum(after - known, room - produced)
        cheaper = min(self.substitution, self.deletion)
        edits = cheaper * replaced + self.deletion * (after - produced - replaced)
        return edits.masked_fill(self.outside[examples], torch.inf)


ROUNDING = 1e-4
"""How far sums of edits may be off, relative to the most expensive edit."""
COUNTED = 1 << 12
"""The most units of an edit: sums of as many edits are then exact."""


def _units(weights: Sequence[float]) -> int:
    """Into how many units to divide 1, so that every edit is a whole number of them.

    1 if there are too many units to count.
    """
    units = lcm(*(Fraction(str(float(weight))).denominator for weight in weights))
    return units if max(weights) * units <= COUNTED else 1


def edit_distance(
    output: Sequence[int],
    reference: Sequence[int],
    insertion: float = 1.0,
    deletion: float = 1.0,
    substitution: float = 1.0,
) -> float:
    """The cheapest way to turn the reference into the output, row by row of the whole table.

    >>> edit_distance([1, 2, 3], [2, 3, 3, 4])
    3.0
    """
    row = [place * deletion for place in range(len(reference) + 1)]
    for token in output:
        above, row = row, [row[0] + insertion]
        for place, right in enumerate(reference):
            replaced = above[place] + (token != right) * substitution
            row.append(min(replaced, above[place + 1] + insertion, row[place] + deletion))
    return float(row[-1])


def _check_weight(weight: float, name: str) -> None:
    if not (isfinite(weight) and weight >= 0):
        raise ValueError(
            f"`{name}` must be a finite number of at least 0, got {weight}; use 0 for an edit that "
            "costs nothing."
        )


def _shifted(
    rows: Float[Tensor, "batch k refs columns"],
) -> Float[Tensor, "batch k refs columns"]:
    """D(i, j - 1) instead of D(i, j)."""
    return torch.nn.functional.pad(rows[..., :-1], (1, 0), value=torch.inf)
