"""Words by their characters."""

from jaxtyping import Float, Int
from torch import Tensor, nn


class CharacterVectors(nn.Module):
    """The strongest response of each filter to three neighboring characters.

    Characters are numbered from 1 on; 0 is none, and has no effect wherever it stands at the end.
    """

    def __init__(self, characters: int, size: int, embedding: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding, padding_idx=0)
        self.filters = nn.Conv1d(embedding, size, 3, padding=1)
        self.size = size

    def forward(
        self, spelled: Int[Tensor, "batch words letters"]
    ) -> Float[Tensor, "batch words size"]:
        batch, words, letters = spelled.shape
        letter = self.embedding(spelled.reshape(batch * words, letters))
        found: Tensor = self.filters(letter.transpose(1, 2)).relu()
        found = found * (spelled.reshape(batch * words, 1, letters) > 0)
        return found.amax(dim=-1).view(batch, words, self.size)
