"""Vectors of words, as settings and a vocabulary describe them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..data.vectors import read_vectors
from ..nn.words import WordVectors
from .settings import WordSettings
from .vocabulary import Vocabulary


def read_pretrained(path: str | None) -> tuple[Sequence[str], Tensor | None]:
    """The words and the vectors of a file; nothing if there is none."""
    return ((), None) if path is None else read_vectors(path)


def word_vectors(
    settings: WordSettings, vocabulary: Vocabulary, pretrained: Tensor | None = None
) -> WordVectors:
    """New vectors; pretrained ones are zeros until they are loaded."""
    if vocabulary.vectors:
        rows = torch.zeros(len(vocabulary.vectors), vocabulary.vector_size)
        rows = rows if pretrained is None else pretrained.float()
        pretrained = torch.cat([torch.zeros(1, vocabulary.vector_size), rows])
    return WordVectors(
        len(vocabulary.word_numbers) + 1,
        len(vocabulary.affixes) + 1,
        settings.word_size,
        settings.affix_size if settings.affix_length else 0,
        pretrained,
        settings.freeze_vectors,
    )
