"""What a word's vector may know of the words around it."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Lookahead(nn.Module):
    """The word itself and the next `ahead` ones: what a stream has shown by then."""

    def __init__(self, size: int, ahead: int = 0) -> None:
        super().__init__()
        self.ahead = ahead
        self.size = size * (ahead + 1)

    def forward(
        self, words: Float[Tensor, "batch words size"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch words context"]:
        inside = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        words = words * inside[..., None]
        shifted = [
            nn.functional.pad(words[:, j:], (0, 0, 0, min(j, words.shape[1])))
            for j in range(self.ahead + 1)
        ]
        return torch.cat(shifted, dim=-1)

    def open(self) -> None:
        """What is carried from word to word: nothing."""

    def carry(
        self, state: None, word: Float[Tensor, "1 size"]
    ) -> tuple[None, Float[Tensor, "1 size"]]:
        """Read one more word."""
        return None, word

    def look(self, window: Sequence[Float[Tensor, "1 size"]]) -> Float[Tensor, "1 context"]:
        """The context of the first word of a window, which is shorter at the end."""
        missing = [torch.zeros_like(window[0])] * (self.ahead + 1 - len(window))
        return torch.cat([*window, *missing], dim=-1)


class Convolution(nn.Module):
    """A few words to both sides: layers of maxout units that see one neighbor each side.

    x <- x + norm(max over pieces of W_piece [left, x, right]), as in small models of spaCy.
    """

    def __init__(
        self, size: int, hidden: int, layers: int = 4, dropout: float = 0.0, pieces: int = 3
    ) -> None:
        super().__init__()
        self.size, self.pieces = hidden, pieces
        self.enter = nn.Linear(size, hidden)
        self.windows = nn.ModuleList(nn.Linear(3 * hidden, pieces * hidden) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, words: Float[Tensor, "batch words size"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch words context"]:
        # One row after another, with an empty place between: no work for padding.
        inside = torch.arange(words.shape[1] + 1, device=words.device) < lengths[:, None]
        spaced = torch.arange(words.shape[1] + 1, device=words.device) <= lengths[:, None]
        full = inside[spaced][:, None]
        x: Tensor = self.enter(nn.functional.pad(words, (0, 0, 0, 1))[spaced])
        for window, norm in zip(self.windows, self.norms, strict=True):
            x = nn.functional.pad(x * full, (0, 0, 1, 1))
            seen = torch.cat([x[:-2], x[1:-1], x[2:]], dim=-1)
            found = window(seen).unflatten(-1, (self.pieces, self.size)).amax(dim=-2)
            x = x[1:-1] + self.dropout(norm(found))
        context = x.new_zeros(*spaced.shape, self.size)
        context[spaced] = x
        return context[:, :-1]


class Bidirectional(nn.Module):
    """An LSTM in both directions: the whole sentence."""

    def __init__(self, size: int, hidden: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(
            size, hidden, layers, batch_first=True, bidirectional=True, dropout=between
        )
        self.size = 2 * hidden

    def forward(
        self, words: Float[Tensor, "batch words size"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch words context"]:
        if words.shape[1] == 0:
            return words.new_zeros(*words.shape[:2], self.size)
        filled = lengths.clamp(min=1).cpu()
        packed = pack_padded_sequence(words, filled, batch_first=True, enforce_sorted=False)
        encoded, _ = self.lstm(packed)
        return pad_packed_sequence(encoded, batch_first=True)[0]
