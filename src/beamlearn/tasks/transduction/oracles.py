"""Costs of outputs by their names: the one place that makes the oracles of transduction."""

from collections.abc import Callable, Iterable, Sequence

from jaxtyping import Int
from torch import Tensor

from ...search.oracle import Oracle
from .edit import EditOracle
from .exact_match import ExactMatchOracle
from .hamming import PaddedHammingOracle
from .ngrams import BleuOracle, ChrfOracle
from .space import Targets

Edits = tuple[float, float, float]
"""What an insertion, a deletion and a substitution cost."""
Spelling = Sequence[Sequence[int]] | Int[Tensor, "actions longest"]
"""The characters of every action in numbers, as `ChrfOracle` takes them."""


def oracle_of(
    cost: str, targets: Targets, *, edits: Edits, spelling: Callable[[], Spelling]
) -> Oracle:
    """The oracle of a cost; only chrF asks for the spelling, which takes its time."""
    makers: dict[str, Callable[[], Oracle]] = {
        "edit": lambda: EditOracle(targets, *edits),
        "hamming": lambda: PaddedHammingOracle(targets),
        "exact": lambda: ExactMatchOracle(targets),
        "bleu": lambda: BleuOracle(targets),
        "chrf": lambda: ChrfOracle(targets, spelling()),
    }
    return makers[cost]()


def numbered(texts: Iterable[str]) -> list[list[int]]:
    """The characters of texts in numbers, without white space.

    >>> numbered(["ab", "", "b a"])
    [[0, 1], [], [1, 0]]
    """
    numbers: dict[str, int] = {}
    return [
        [numbers.setdefault(letter, len(numbers)) for letter in "".join(text.split())]
        for text in texts
    ]
