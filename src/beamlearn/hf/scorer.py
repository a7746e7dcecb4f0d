"""A Hugging Face model as a scorer, with its cache."""

from typing import final

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from ..search.neighbors import Move
from ..search.scorer import Scorer
from ..tasks.transduction.space import TransductionPosition
from .reading import Read, reader_of
from .rules import settings_of
from .space import HuggingFaceSpace


@final
class HuggingFaceScorer(Scorer):
    """Log-probabilities of an encoder-decoder or a causal model of the library transformers.

    Sources and prompts are read once. The cache follows the beam, and rows that end leave it.
    Memories are values: an earlier one stays as it was. Numbers are float32, as in `generate`.

    The model is put into evaluation mode, and is shared, not copied.
    """

    normalize = "log_softmax"

    def __init__(self, model: PreTrainedModel, *, length_power: float = 0.0) -> None:
        super().__init__()
        settings_of(model)
        self.model, self.length_power = model, length_power
        self.reader = reader_of(model)
        self.eval()

    def start(self, space: HuggingFaceSpace) -> Read:
        return self.reader.start(space)

    def score(self, memory: Read, nodes: TransductionPosition) -> Float[Tensor, "batch k a"]:
        return memory.logits

    def advance(self, memory: Read, nodes: TransductionPosition, move: Move) -> Read:
        width = memory.logits.shape[1]
        moved = move.rows is not None or move.slots.shape[1] != width
        alone = width == 1 and not moved
        parents = None if alone else move.parents(width).flatten()
        return self.reader.go_on(memory, parents, moved, move.actions)
