"""The contexts of words that come one by one."""

from collections import deque
from typing import Any, final

from jaxtyping import Float
from torch import Tensor

from .context import Lookahead
from .incremental import Incremental


@final
class ContextStream:
    """Give the context of each word as soon as all words that it may depend on have come.

    The contexts are those of the whole sentence, up to rounding. What is kept does not grow: the
    state of the encoder, and the words that are still waiting for others.
    """

    def __init__(self, encoder: Lookahead | Incremental) -> None:
        self.encoder: Any = encoder
        self.state = encoder.open()
        self.window: deque[Any] = deque()

    def read(self, word: Float[Tensor, "1 size"]) -> list[Float[Tensor, "1 context"]]:
        """Read one more word; give the context that it completes, if any."""
        self.state, carried = self.encoder.carry(self.state, word)
        self.window.append(carried)
        return [self._first()] if len(self.window) > self.encoder.ahead else []

    def end(self) -> list[Float[Tensor, "1 context"]]:
        """No word follows; give the contexts of those that were waiting."""
        return [self._first() for _ in range(len(self.window))]

    def _first(self) -> Float[Tensor, "1 context"]:
        context: Tensor = self.encoder.look(self.window)
        self.window.popleft()
        return context
