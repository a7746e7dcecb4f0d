"""A neural tagger: words in context, and a memory of the tags of each hypothesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...nn.context import Bidirectional, Lookahead
from ...nn.history import ActionRNN, Cell, RecurrentState
from ...nn.incremental import Incremental
from ...nn.words import WordVectors
from ...search.neighbors import Move
from ...search.scorer import PathScorer
from .space import TaggingPosition, TaggingSpace

Context = Literal["streaming", "sentence"]


@dataclass(frozen=True)
class NeuralTaggerMemory:
    """The scores from the words alone, and the recurrent state of each hypothesis."""

    emissions: Sequence[Tensor] | Mapping[int, Tensor]
    """Word by word, the part of the scores that is the same for all hypotheses."""
    recalled: RecurrentState
    dropped: Float[Tensor, "batch 1 size"] | None
    """One dropout mask per sentence: its hypotheses stay comparable."""


@final
class NeuralTagger(PathScorer):
    """s(tag) = U context(word) + V history(tags so far)."""

    def __init__(
        self,
        words: WordVectors,
        tags: int,
        *,
        context: Context = "streaming",
        lookahead: int = 0,
        encoder: Literal["window", "lstm"] = "window",
        encoder_size: int = 128,
        encoder_layers: int = 1,
        history: Cell = "lstm",
        history_size: int = 256,
        tag_size: int = 64,
        dropout: float = 0.0,
        accumulate: bool = True,
        normalize: Literal["log_softmax"] | None = None,
    ) -> None:
        super().__init__()
        self.accumulate, self.normalize = accumulate, normalize
        self.words = words
        self.context: Lookahead | Incremental | Bidirectional
        if context == "sentence":
            self.context = Bidirectional(words.size, encoder_size, encoder_layers, dropout)
        elif encoder == "lstm":
            self.context = Incremental(words.size, encoder_size, lookahead, encoder_layers, dropout)
        else:
            self.context = Lookahead(words.size, lookahead)
        self.emit = nn.Linear(self.context.size, tags)
        self.history = ActionRNN(tags, history_size, tag_size, history)
        self.recall = nn.Linear(history_size, tags, bias=False)
        self.dropout = nn.Dropout(dropout)

    @property
    def streamed(self) -> Lookahead | Incremental:
        """The encoder, which must be one that can read words as they come."""
        if isinstance(self.context, Bidirectional):
            raise TypeError("A stream needs an encoder that does not read sentences backward.")
        return self.context

    def start(self, space: TaggingSpace) -> NeuralTaggerMemory:
        seen = self.dropout(self.words(space.features))
        emissions = self.emit(self.dropout(self.context(seen, space.lengths)))
        recalled = self.history.start(len(space))
        dropped = None
        if self.training and self.dropout.p > 0:
            dropped = self.dropout(torch.ones_like(recalled.hidden))
        return NeuralTaggerMemory(emissions.unbind(dim=1), recalled, dropped)

    def score(
        self, memory: NeuralTaggerMemory, nodes: TaggingPosition
    ) -> Float[Tensor, "batch k tags"]:
        hidden = memory.recalled.hidden
        if memory.dropped is not None:
            hidden = hidden * memory.dropped
        emitted = memory.emissions[nodes.word]
        if len(nodes.examples) < len(emitted):
            emitted = emitted.index_select(0, nodes.examples)
        recalled: Tensor = self.recall(hidden)
        return recalled + emitted[:, None]

    def advance(
        self, memory: NeuralTaggerMemory, nodes: TaggingPosition, move: Move
    ) -> NeuralTaggerMemory:
        dropped = None if memory.dropped is None else move.keep(memory.dropped)
        recalled = self.history.advance(memory.recalled, move)
        return replace(memory, recalled=recalled, dropped=dropped)

    def along(
        self, memory: NeuralTaggerMemory, actions: Int[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words tags"]:
        hidden = self.history.along(memory.recalled, actions[:, :-1])
        if memory.dropped is not None:
            hidden = hidden * memory.dropped
        emitted = [memory.emissions[word] for word in range(actions.shape[1])]
        recalled: Tensor = self.recall(hidden)
        return recalled + torch.stack(emitted, dim=1)
