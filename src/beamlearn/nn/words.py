"""Words as vectors: the word itself, its beginning and end, and vectors from elsewhere."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


class WordVectors(nn.Module):
    """Concatenate a vector per word, the sum of its affixes' vectors, and a pretrained one.

    Columns of the input: the word's number, its number among the pretrained vectors (if there
    are any), then the numbers of its affixes. Number 0 is "unknown" for words and "none" for
    vectors and affixes.
    """

    def __init__(
        self,
        words: int,
        affixes: int,
        word_size: int,
        affix_size: int,
        pretrained: Float[Tensor, "rows columns"] | None = None,
        frozen: bool = True,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(words, word_size)
        nn.init.normal_(self.words.weight, std=0.3)
        self.affixes: nn.Embedding | None = None
        if affix_size > 0:
            table = torch.randn(affixes, affix_size) * 0.1
            table[0] = 0.0
            self.affixes = nn.Embedding.from_pretrained(table, freeze=False, padding_idx=0)
        self.pretrained: nn.Embedding | None = None
        if pretrained is not None:
            self.pretrained = nn.Embedding.from_pretrained(pretrained, frozen, padding_idx=0)
        self.size = word_size + affix_size + (0 if pretrained is None else pretrained.shape[1])

    def forward(self, features: Int[Tensor, "batch words f"]) -> Float[Tensor, "batch words size"]:
        given = 1 if self.pretrained is None else 2
        parts = [self.words(features[..., 0])]
        if self.pretrained is not None:
            parts.append(self.pretrained(features[..., 1]))
        if self.affixes is not None:
            affixes = features[..., given:].flatten(0, 1)
            table = self.affixes.weight
            summed = functional.embedding_bag(affixes, table, mode="sum", padding_idx=0)
            parts.append(summed.view(*features.shape[:2], table.shape[1]))
        return torch.cat(parts, dim=-1)
