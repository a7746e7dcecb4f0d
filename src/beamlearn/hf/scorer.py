"""A Hugging Face encoder-decoder as a scorer, with its cache."""

from copy import copy
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import Cache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from ..search.neighbors import Move
from ..search.scorer import Scorer
from .rules import settings_of
from .space import HuggingFaceSpace, Length


@dataclass(frozen=True)
class Decoded:
    """What the decoder has read, hypothesis by hypothesis through all examples."""

    sources: Float[Tensor, "hypotheses symbols d"]
    """The encoded sources."""
    mask: Int[Tensor, "hypotheses symbols"]
    cache: EncoderDecoderCache
    logits: Float[Tensor, "batch k a"]


@final
class HuggingFaceScorer(Scorer):
    """Log-probabilities of an encoder-decoder of the library transformers.

    Sources are encoded once. The cache follows the beam: rows that end leave it, and keys and
    values of the source are moved only when examples leave or beams change their width.
    Memories are values: an earlier one stays as it was. Numbers are float32, as in `generate`.

    The model is put into evaluation mode, and is shared, not copied.
    """

    normalize = "log_softmax"

    def __init__(self, model: PreTrainedModel, *, length_power: float = 0.0) -> None:
        super().__init__()
        settings_of(model)
        self.model, self.length_power = model, length_power
        self.eval()

    def start(self, space: HuggingFaceSpace) -> Decoded:
        ids, mask = space.input_ids, space.attention_mask
        encoder = self.model.get_encoder()
        sources = encoder(input_ids=ids, attention_mask=mask, return_dict=True).last_hidden_state
        start = torch.full((len(space), 1), space.rules.start, device=ids.device)
        return self._read(sources, mask, None, start)

    def score(self, memory: Decoded, nodes: Length) -> Float[Tensor, "batch k a"]:
        return memory.logits

    def advance(self, memory: Decoded, nodes: Length, move: Move) -> Decoded:
        width = memory.logits.shape[1]
        parents = move.parents(width).flatten()
        moved = move.rows is not None or move.slots.shape[1] != width
        sources, mask = memory.sources, memory.mask
        if moved:
            sources, mask = sources.index_select(0, parents), mask.index_select(0, parents)
        return self._read(sources, mask, select(memory.cache, parents, moved), move.actions)

    def _read(
        self,
        sources: Float[Tensor, "hypotheses symbols d"],
        mask: Int[Tensor, "hypotheses symbols"],
        cache: EncoderDecoderCache | None,
        tokens: Int[Tensor, "batch k"],
    ) -> Decoded:
        """Let every hypothesis read its last token."""
        # transformers writes FloatTensor for a tensor of any floating type
        encoded = BaseModelOutput(last_hidden_state=sources)  # type: ignore[arg-type]
        read = self.model(
            encoder_outputs=encoded,
            attention_mask=mask,
            decoder_input_ids=tokens.flatten()[:, None],
            past_key_values=cache,
            use_cache=True,
            return_dict=True,
        )
        if not isinstance(read.past_key_values, EncoderDecoderCache):
            raise TypeError(
                "A search needs a model whose cache is an EncoderDecoderCache, but that of "
                f"{type(self.model).__name__} is a {type(read.past_key_values).__name__}."
            )
        logits = read.logits[:, -1].float().view(*tokens.shape, -1)
        return Decoded(sources, mask, read.past_key_values, logits)


def select(
    cache: EncoderDecoderCache, parents: Int[Tensor, " hypotheses"], moved: bool
) -> EncoderDecoderCache:
    """The cache of the hypotheses that extend `parents`; the old one stays as it is.

    All hypotheses of an example share the keys and values of its source, so that these are
    only selected where examples or slots were `moved`.
    """
    own, shared = _copy(cache.self_attention_cache), _copy(cache.cross_attention_cache)
    own.batch_select_indices(parents)
    if moved:
        shared.batch_select_indices(parents)
    return EncoderDecoderCache(own, shared)


def _copy(cache: Cache) -> Cache:
    """A cache with layers of its own, which still hold the same tensors."""
    after = copy(cache)
    after.layers = [copy(layer) for layer in cache.layers]
    return after
