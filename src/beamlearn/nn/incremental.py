"""Words in the context of all words so far, and of a few to come."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .history import lstm_step

State = tuple[Tensor, Tensor] | None
"""What an LSTM carries from word to word; None before the first one."""
Carried = tuple[Tensor, Tensor]
"""Of a word, what the words up to it say, and its own part in the gates of the glance back."""


@final
class Incremental(nn.Module):
    """An LSTM over the words so far, and one that comes back from `ahead` words further on.

    context(i) = [passed(i), glance(i)], where `passed` reads words 1 .. i and `glance` reads words
    i + ahead .. i, or from the last word on if that comes earlier. Nothing depends on a word after
    i + ahead. Where `ahead` reaches the end, this is an LSTM in both directions (with one layer).
    One more word takes ahead + 2 steps, however many came before it; in a batch, all words are
    glanced at together.
    """

    def __init__(
        self, size: int, hidden: int, ahead: int = 0, layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.ahead, self.size = ahead, 2 * hidden
        between = dropout if layers > 1 else 0.0
        self.passed = nn.LSTM(size, hidden, layers, batch_first=True, dropout=between)
        self.given = nn.Linear(size, 4 * hidden)
        self.recurrent = nn.Linear(hidden, 4 * hidden, bias=False) if ahead else None
        for name, parameter in self.named_parameters():
            if not name.startswith("passed"):
                nn.init.uniform_(parameter, -(hidden**-0.5), hidden**-0.5)

    def forward(
        self, words: Float[Tensor, "batch words size"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch words context"]:
        count = words.shape[1]
        if count == 0:
            return words.new_zeros(*words.shape[:2], self.size)
        places = torch.arange(count, device=words.device)
        words = words * (places < lengths[:, None])[..., None]
        passed, _ = self.passed(words)  # what comes after a sentence cannot change it
        given = self.given(words)
        hidden = cell = words.new_zeros(*words.shape[:2], self.size // 2)
        for j in range(min(self.ahead, count - 1), -1, -1):
            coming = nn.functional.pad(given[:, j:], (0, 0, 0, j))
            hidden, cell = self._glance(coming, hidden, cell)
            inside = (places + j < lengths[:, None])[..., None]
            hidden, cell = hidden * inside, cell * inside
        return torch.cat([passed, hidden], dim=-1)

    def open(self) -> State:
        """What is carried from word to word, before the first one."""
        return None

    def carry(self, state: State, word: Float[Tensor, "1 size"]) -> tuple[State, Carried]:
        """Read one more word."""
        passed, state = self.passed(word[None], state)
        return state, (passed[0], self.given(word))

    def look(self, window: Sequence[Carried]) -> Float[Tensor, "1 context"]:
        """The context of the first word of a window, which is shorter at the end."""
        hidden = cell = window[0][0].new_zeros(1, self.size // 2)
        for _, given in reversed(window):
            hidden, cell = self._glance(given, hidden, cell)
        return torch.cat([window[0][0], hidden], dim=-1)

    def _glance(self, given: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """One word further back."""
        gates = given if self.recurrent is None else given + self.recurrent(hidden)
        return lstm_step(gates, cell)
