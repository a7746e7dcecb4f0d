"""What scorers and oracles get wrong, in one sentence each."""

from math import isfinite

import torch
from jaxtyping import Float, Int
from torch import Tensor


def check_shape(given: Tensor, required: tuple[int, ...], what: str, whose: str) -> None:
    """Refuse a tensor that does not have one entry per example, slot and action."""
    if tuple(given.shape) != required:
        raise ValueError(
            f"The {whose} must give {what} of shape {required} (examples, slots, actions), got "
            f"{tuple(given.shape)}."
        )


class NotFiniteError(ValueError):
    """A number that is NaN or infinite: what must be finite, what was found, and what to do."""

    def __init__(self, what: str, found: str, remedy: str) -> None:
        super().__init__(f"{what} must be finite, but {found}; {remedy}.")
        self.what, self.found, self.remedy = what, found, remedy

    def in_round(self, number: int) -> "NotFiniteError":
        """The same, with the round of training in which it was found."""
        return NotFiniteError(self.what, f"in round {number} {self.found}", self.remedy)

    def in_shard(self, number: int, shards: int) -> "NotFiniteError":
        """The same, with the part of the batch that its example is in."""
        where = f"in shard {number} of {shards}"
        return NotFiniteError(self.what, f"{where} {self.found}", self.remedy)


def check_best_scores(best: Float[Tensor, " batch"], examples: Int[Tensor, " batch"]) -> None:
    """Refuse NaN and +inf, which sort first, and beams without neighbors, which show as -inf."""
    if isfinite(float(best.sum())):  # one number to look at, and no overflow: all are finite
        return
    finite = torch.isfinite(best)
    if bool(finite.all()):
        return
    row = int((~finite).nonzero()[0, 0])
    example, value = int(examples[row]), float(best[row])
    if value == -torch.inf:
        raise ValueError(
            f"Every beam needs a neighbor, but no node in the beam of example {example} has a "
            "legal action; rule out fewer actions, or let the space rule out those that lead into "
            "a dead end."
        )
    raise bad_score(value, example)


def bad_score(value: float, example: int) -> NotFiniteError:
    """The error for a score that is not finite."""
    return NotFiniteError(
        "Scores",
        f"the scorer gave {value} to a neighbor of example {example}",
        "look for an overflow or a division by zero in `score` (only -inf is allowed: it rules "
        "an action out)",
    )
