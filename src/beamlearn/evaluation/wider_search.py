"""Wider search: what a beam that is as good as exact, or nearly so, would change."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ..plural import counted
from .diagnosis import Diagnosis
from .evaluate import Evaluation


@dataclass(frozen=True)
class WiderSearch:
    """A very wide beam against the usual one, on a sample of the examples."""

    width: int
    than: int
    """The usual width."""
    examples: int
    exhausted: int
    """Examples in whose search nothing fell out of the wide beam: these are exact."""
    better: int
    """Examples whose output costs less with the wide beam."""
    worse: int
    """Examples whose output costs more: the model prefers it, and the usual beam missed it."""
    fallen: int
    """Examples whose best output falls out even of the wide beam."""
    before: float
    """Mean cost with the usual beam."""
    after: float
    """Mean cost with the wide beam."""

    @classmethod
    def of(
        cls, than: int, usual: Float[Tensor, " examples"], width: int, found: Evaluation
    ) -> "WiderSearch":
        """Compare the costs of outputs with those of a wider beam on the same examples."""
        wide = Diagnosis.of(width, found)
        costs = found.costs.to(usual)
        return cls(
            width=width,
            than=than,
            examples=len(found),
            exhausted=wide.exhausted,
            better=int((costs < usual).sum()),
            worse=int((costs > usual).sum()),
            fallen=wide.fallen,
            before=float(usual.double().mean()),
            after=wide.cost,
        )

    @property
    def exact(self) -> bool:
        """Was every example searched exhaustively?"""
        return self.exhausted == self.examples

    @property
    def way(self) -> str:
        """How it was searched, in words.

        >>> WiderSearch(128, 8, 100, 3, 0, 0, 0, 1.0, 1.0).way
        'a beam of 128 on 100 examples, exhaustive in 3 of them'
        >>> WiderSearch(128, 8, 100, 100, 0, 0, 0, 1.0, 1.0).way
        'exhaustive search of 100 examples'
        """
        if self.exact:
            return f"exhaustive search of {counted(self.examples, 'example')}"
        some = f", exhaustive in {self.exhausted:,} of them" if self.exhausted else ""
        return f"a beam of {self.width} on {counted(self.examples, 'example')}{some}"

    @property
    def sentence(self) -> str:
        """What it would change, in words.

        >>> print(WiderSearch(128, 8, 100, 0, 2, 1, 60, 1.25, 1.2).sentence)
        What an exact search would change (by a beam of 128 on 100 examples): 2 outputs are better \
than with a beam of 8 and 1 is worse, and the mean cost goes from 1.250 to 1.200.
        """
        better = f"{self.better:,} output{' is' if self.better == 1 else 's are'} better"
        worse = f"{self.worse:,} {'is' if self.worse == 1 else 'are'} worse"
        return (
            f"What an exact search would change (by {self.way}): {better} than with a beam of "
            f"{self.than} and {worse}, and the mean cost goes from {self.before:.3f} to "
            f"{self.after:.3f}."
        )

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name, and how it was searched."""
        return {**vars(self), "way": self.way}
