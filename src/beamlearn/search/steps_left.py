"""How many actions the outputs of some nodes still take."""

from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True)
class StepsLeft:
    """Bounds for the number of actions to the end of an output, the next one among them."""

    fewest: Int[Tensor, " batch"]
    most: Int[Tensor, " batch"]

    def after_one(self) -> "StepsLeft":
        """The same after an action that does not end the output: at least one more follows."""
        return StepsLeft((self.fewest - 1).clamp(min=1), self.most - 1)
