"""Diagnosis: at one beam width, what becomes of the best reachable outputs, and who is to blame."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from .evaluate import Evaluation
from .fates import Fates

TENTHS = 10
"""Parts of a search in which falls are counted."""


@dataclass(frozen=True)
class Diagnosis:
    """Counts over the examples of a data set; the best output is the cheapest of its space.

    Every example is one of three:  right + listed + fallen = examples.
    """

    width: int
    right: int
    """Examples whose output is the best, or as cheap."""
    listed: int
    """Examples with the best output on the n-best list, but not on top: the model prefers a worse
    output although both were found, which no beam can fix, but a loss over the final beam can."""
    fallen: int
    """Examples whose best output fell out of the beam."""
    search_errors: int
    """Examples that could be better, where the model scores the best output higher."""
    improvable: int
    """Examples with a better output than the first on the n-best list, the best one or another."""
    exhausted: int
    """Examples in whose search nothing fell out of the beam."""
    cost: float
    """Mean cost of the outputs."""
    regret: float
    """Mean cost above that of the best outputs."""
    list_regret: float
    """The same, if the best output on each n-best list were chosen."""
    fallen_at: tuple[int, ...]
    """How many best outputs fell at the i-th transition."""
    fallen_in: tuple[int, ...]
    """How many best outputs fell in each tenth of their search."""

    @classmethod
    def of(cls, width: int, found: Evaluation) -> "Diagnosis":
        """The diagnosis of a search that was evaluated."""
        fates = fates_in(found)
        wrong = found.regrets > 0
        at = fates.lost_at[~fates.listed]
        part = TENTHS * at // fates.steps[~fates.listed].clamp(min=1)
        optimum = found.costs.double() - found.regrets.double()
        return cls(
            width=width,
            right=int((~wrong).sum()),
            listed=int((wrong & fates.listed).sum()),
            fallen=int((wrong & ~fates.listed).sum()),
            search_errors=0 if found.search_errors is None else int(found.search_errors.sum()),
            improvable=int((wrong & (fates.list_costs < found.costs)).sum()),
            exhausted=int((~fates.pruned).sum()),
            cost=float(found.costs.double().mean()),
            regret=float(found.regrets.double().mean()),
            list_regret=float((fates.list_costs.double() - optimum).mean()),
            fallen_at=counts(at),
            fallen_in=counts(part, TENTHS),
        )

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.right + self.listed + self.fallen

    @property
    def model_errors(self) -> int:
        """Examples that could be better, where the model prefers what it found."""
        return self.listed + self.fallen - self.search_errors

    @property
    def middle(self) -> float | None:
        """The step, from 1, by which half of all falls have happened; None if there are none.

        >>> Diagnosis(8, 0, 0, 4, 0, 0, 0, 1.0, 1.0, 1.0, (1, 1, 0, 2), ()).middle
        2
        """
        before = 0
        for step, count in enumerate(self.fallen_at, 1):
            before += count
            if count and 2 * before >= self.fallen:
                return step
        return None

    def share(self, name: str) -> float:
        """A count as a share of the examples."""
        return int(getattr(self, name)) / self.examples

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {
            **vars(self),
            "model_errors": self.model_errors,
            "fallen_at": list(self.fallen_at),
            "fallen_in": list(self.fallen_in),
        }


def fates_in(found: Evaluation) -> Fates:
    """The fates of an evaluation; refuse one without."""
    if found.fates is None:
        raise ValueError(
            "A diagnosis needs the n-best lists of the search, but this evaluation has none; use "
            "`evaluate_search` on the result of `beam_search`."
        )
    return found.fates


def counts(places: Int[Tensor, " falls"], least: int = 0) -> tuple[int, ...]:
    """How often each place occurs."""
    return tuple(torch.bincount(places.cpu(), minlength=least).tolist())
