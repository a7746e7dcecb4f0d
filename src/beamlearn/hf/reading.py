"""How a model of the library transformers reads: its inputs once, then token after token."""

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any, cast, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad
from transformers import Cache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from .space import HuggingFaceSpace


@dataclass(frozen=True)
class Read:
    """What a model has read, hypothesis by hypothesis through all examples."""

    context: tuple[Tensor, ...]
    """What it is extra about each hypothesis besides its tokens."""
    cache: Cache
    logits: Float[Tensor, "batch k a"]
    """Of the token to come. Float32, as in `generate`."""


class Reader(ABC):
    """A model that reads one more token of every hypothesis at a time."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model

    @abstractmethod
    def start(self, space: HuggingFaceSpace) -> Read:
        """Read the inputs of each example once."""

    @abstractmethod
    def go_on(
        self,
        read: Read,
        parents: Int[Tensor, " hypotheses"] | None,
        moved: bool,
        tokens: Int[Tensor, "batch k"],
    ) -> Read:
        """Let each hypothesis extend one of `parents` by a token; `read` stays as it is.

        None: each extends itself. Where nothing was `moved`, hypotheses extend others of the same
        example, and there are as many as before.
        """

    def kept(
        self, read: Any, context: tuple[Tensor, ...], kind: type[Cache], beams: tuple[int, ...]
    ) -> Read:
        """What to keep of the outputs of the model; refuse one without a cache of that kind."""
        cache = getattr(read, "past_key_values", None)
        if not isinstance(cache, kind):
            raise TypeError(
                f"A search needs a model that keeps what it has read in {kind.__name__}, but that "
                f"of {type(self.model).__name__} is a {type(cache).__name__}; use "
                "`model.generate`."
            )
        return Read(context, cache, read.logits[:, -1].float().view(*beams, -1))


@final
class EncoderDecoderReader(Reader):
    """An encoder that reads the source, and a decoder that reads what was written.

    All hypotheses of an example share its encoded source, with its keys and values; these are
    selected only where examples leave or beams change their width.
    """

    def start(self, space: HuggingFaceSpace) -> Read:
        ids, mask, encoded = space.input_ids, space.attention_mask, space.encoded
        if encoded is not None:
            context = (encoded.states, *_telling(encoded.mask))
            return self._read(context, None, ids, len(space), 1)
        encoder = self.model.get_encoder()
        sources = encoder(input_ids=ids, attention_mask=mask, return_dict=True).last_hidden_state
        assert space.rules.start is not None  # only what reads a prompt has none
        start = ids.new_full((len(space), 1), space.rules.start)
        return self._read((sources, *_telling(mask)), None, start, len(space), 1)

    def go_on(
        self,
        read: Read,
        parents: Int[Tensor, " hypotheses"] | None,
        moved: bool,
        tokens: Int[Tensor, "batch k"],
    ) -> Read:
        context, before = read.context, cast(EncoderDecoderCache, read.cache)
        own: Cache = _own_layers(before.self_attention_cache)
        shared: Cache = before.cross_attention_cache
        if parents is not None:
            own.batch_select_indices(parents)
        if moved and parents is not None:
            context = tuple(field.index_select(0, parents) for field in context)
            shared = _own_layers(shared)
            shared.batch_select_indices(parents)
        cache = EncoderDecoderCache(own, shared)
        return self._read(context, cache, tokens.flatten()[:, None], *tokens.shape)

    def _read(
        self,
        context: tuple[Tensor, ...],
        cache: Cache | None,
        tokens: Int[Tensor, "hypotheses new"],
        *beams: int,
    ) -> Read:
        sources, *masks = context
        read = self.model(
            # transformers writes FloatTensor for a tensor of any floating type
            encoder_outputs=BaseModelOutput(last_hidden_state=sources),  # type: ignore[arg-type]
            decoder_input_ids=tokens,
            past_key_values=cache,
            use_cache=True,
            return_dict=True,
            **({"attention_mask": masks[0]} if masks else {}),
        )
        return self.kept(read, context, EncoderDecoderCache, beams)


@final
class CausalReader(Reader):
    """A decoder alone, which reads the prompt and then goes on writing.

    Prompts may be padded on either side; here their ends stand in line. Places are counted
    without padding.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model)
        self.takes_places = takes(model, "position_ids")
        self.keeps_some = takes(model, "logits_to_keep")

    def start(self, space: HuggingFaceSpace) -> Read:
        ids, mask = flush_right(space.input_ids, space.attention_mask)
        places = (mask.cumsum(dim=-1) - 1).clamp(min=0)
        return self._read(_telling(mask), None, ids, places, len(space), 1)

    def go_on(
        self,
        read: Read,
        parents: Int[Tensor, " hypotheses"] | None,
        moved: bool,
        tokens: Int[Tensor, "batch k"],
    ) -> Read:
        context, cache = read.context, _own_layers(read.cache)
        if parents is not None:
            context = tuple(mask.index_select(0, parents) for mask in context)
            cache.batch_select_indices(parents)
        context = tuple(pad(mask, (0, 1), value=1) for mask in context)
        new = tokens.flatten()[:, None]
        if context:
            places = context[0].sum(dim=-1, keepdim=True) - 1
        else:
            places = torch.full_like(new, cache.get_seq_length())
        return self._read(context, cache, new, places, *tokens.shape)

    def _read(
        self,
        context: tuple[Tensor, ...],
        cache: Cache | None,
        tokens: Int[Tensor, "hypotheses new"],
        places: Int[Tensor, "hypotheses new"],
        *beams: int,
    ) -> Read:
        extra: dict[str, Any] = {"position_ids": places} if self.takes_places else {}
        if self.keeps_some:
            extra["logits_to_keep"] = 1
        if context:
            (extra["attention_mask"],) = context
        read = self.model(
            input_ids=tokens,
            past_key_values=cache,
            use_cache=True,
            return_dict=True,
            **extra,
        )
        return self.kept(read, context, Cache, beams)


def reader_of(model: PreTrainedModel) -> Reader:
    """The way in which a model reads."""
    kind = EncoderDecoderReader if model.config.is_encoder_decoder else CausalReader
    return kind(model)


def flush_right(
    ids: Int[Tensor, "batch tokens"], mask: Int[Tensor, "batch tokens"]
) -> tuple[Int[Tensor, "batch longest"], Int[Tensor, "batch longest"]]:
    """Move what is not masked to the end of each row; drop columns of padding alone.

    >>> ids = torch.tensor([[5, 6, 0, 0], [0, 7, 8, 9]])
    >>> [field.tolist() for field in flush_right(ids, (ids > 0).long())]
    [[[0, 5, 6], [7, 8, 9]], [[0, 1, 1], [1, 1, 1]]]
    """
    order = mask.argsort(dim=-1, stable=True)
    longest = int(mask.sum(dim=-1).max())
    order = order[:, order.shape[1] - longest :]
    return ids.gather(-1, order), mask.gather(-1, order)


def takes(model: PreTrainedModel, name: str) -> bool:
    """Does the model take an argument of this name?"""
    unwrapped: Any = model
    bare = unwrapped.get_base_model() if hasattr(model, "get_base_model") else model
    return name in signature(bare.forward).parameters


def _telling(mask: Int[Tensor, "batch symbols"] | None) -> tuple[Tensor, ...]:
    """The mask, if it says anything: models do less where there is none."""
    return () if mask is None or bool(mask.all()) else (mask,)


def _own_layers(cache: Cache) -> Cache:
    """A cache with layers of its own, which still hold the same tensors."""
    after = copy(cache)
    after.layers = [copy(layer) for layer in cache.layers]
    return after
