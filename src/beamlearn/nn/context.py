"""What a word's vector may know of the words around it."""

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
        filled = lengths.clamp(min=1).cpu()
        packed = pack_padded_sequence(words, filled, batch_first=True, enforce_sorted=False)
        encoded, _ = self.lstm(packed)
        return pad_packed_sequence(encoded, batch_first=True)[0]
