"""A neural parser: words in context at the places that matter, and a memory of the actions."""

from dataclasses import dataclass, replace
from typing import Literal, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...nn.characters import CharacterVectors
from ...nn.context import Bidirectional, Convolution
from ...nn.history import ActionRNN, Cell, RecurrentState
from ...nn.incremental import Incremental
from ...nn.lookup import Lookup
from ...nn.words import WordVectors
from ...search.neighbors import Move
from ...search.scorer import Scorer
from .space import ParsingSpace
from .system import AnySystem, Parsed


class Sight(nn.Module):
    """What is seen of a word: its vectors, its characters and its tag.

    Columns of the input: those of `WordVectors`, then `max_characters` characters, then the tag.
    """

    def __init__(
        self,
        words: WordVectors,
        *,
        characters: int,
        max_characters: int,
        character_size: int,
        tags: int,
        tag_size: int,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.words, self.max_characters, self.word_dropout = words, max_characters, word_dropout
        self.characters = CharacterVectors(characters, character_size) if max_characters else None
        self.tags = nn.Embedding(tags, tag_size) if tags else None
        self.size = (
            words.size + (character_size if max_characters else 0) + (tag_size if tags else 0)
        )

    def forward(self, features: Int[Tensor, "batch words f"]) -> Float[Tensor, "batch words size"]:
        parts = []
        if self.tags is not None:
            parts.append(self.tags(features[..., -1]))
            features = features[..., :-1]
        if self.characters is not None:
            parts.append(self.characters(features[..., -self.max_characters :]))
            features = features[..., : -self.max_characters]
        if self.training and self.word_dropout > 0:
            kept = torch.rand_like(features[..., 0], dtype=torch.float) >= self.word_dropout
            features = torch.cat([features[..., :1] * kept[..., None], features[..., 1:]], dim=-1)
        return torch.cat([self.words(features), *parts], dim=-1)


@dataclass(frozen=True)
class NeuralParserMemory:
    """The encoded sentences, and the recurrent state of each hypothesis."""

    seen: Lookup
    """W_p context(word), sentence by sentence, word by word, position by position."""
    words: int
    """How many words each sentence has there; the first is none."""
    recalled: RecurrentState | None
    dropped: Float[Tensor, "batch 1 size"] | None
    """One dropout mask per sentence: its hypotheses stay comparable."""


@final
class NeuralParser(Scorer):
    """s(action) = U relu(sum over positions p of W_p context(word at p) + V history)."""

    def __init__(
        self,
        sight: Sight,
        context: Bidirectional | Convolution | Incremental,
        system: AnySystem,
        actions: int,
        *,
        size: int = 128,
        history: Cell | None = "lstm",
        history_size: int = 128,
        action_size: int = 64,
        dropout: float = 0.0,
        accumulate: bool = True,
        normalize: Literal["log_softmax"] | None = None,
    ) -> None:
        super().__init__()
        self.accumulate, self.normalize = accumulate, normalize
        self.system, self.size = system, size
        self.sight, self.context = sight, context
        positions = len(system.positions)
        self.look = nn.Linear(context.size, positions * size)
        self.absent = nn.Parameter(torch.randn(positions * size) * 0.1)
        self.decide = nn.Linear(size, actions)
        self.history: ActionRNN | None = None
        if history is not None:
            self.history = ActionRNN(actions, history_size, action_size, history)
            self.recall = nn.Linear(history_size, size, bias=False)
        self.dropout = nn.Dropout(dropout)

    @property
    def streamed(self) -> Incremental:
        """The encoder, which must be one that can read words as they come."""
        if not isinstance(self.context, Incremental):
            raise TypeError("A stream needs an encoder that does not read sentences backward.")
        return self.context

    def start(self, space: ParsingSpace) -> NeuralParserMemory:
        words = self.dropout(self.sight(space.features[:, 1:]))
        context = self.dropout(self.context(words, space.lengths))
        absent = self.absent.expand(len(space), 1, -1)
        seen = torch.cat([absent, self.look(context)], dim=1)
        dropped = None
        if self.training and self.dropout.p > 0:
            dropped = self.dropout(seen.new_ones(len(space), 1, self.size))
        recalled = None if self.history is None else self.history.start(len(space))
        return NeuralParserMemory(
            Lookup(seen.view(-1, self.size)), seen.shape[1], recalled, dropped
        )

    def hear(
        self, memory: NeuralParserMemory, context: Float[Tensor, "1 context"]
    ) -> NeuralParserMemory:
        """Add a word, in its context, to the only sentence; without gradients.

        There is room for more words than there are, so that what is known is rarely copied.
        """
        table, place = memory.seen.table, memory.words * len(self.system.positions)
        row = self.look(context).view(-1, self.size)
        if place + len(row) > len(table):
            table = nn.functional.pad(table, (0, 0, 0, max(len(row), len(table))))
        table[place : place + len(row)] = row
        return replace(memory, seen=Lookup(table), words=memory.words + 1)

    def score(self, memory: NeuralParserMemory, nodes: Parsed) -> Float[Tensor, "batch k a"]:
        words = self.system.words(nodes)
        batch, k, positions = words.shape
        place = torch.arange(positions, device=words.device)
        rows = (words + (nodes.examples * memory.words)[:, None, None]) * positions + place
        hidden = memory.seen(rows.view(-1, positions)).view(batch, k, self.size)
        if memory.recalled is not None:
            hidden = hidden + self.recall(memory.recalled.hidden)
        hidden = hidden.relu()
        if memory.dropped is not None:
            hidden = hidden * memory.dropped
        scores: Tensor = self.decide(hidden)
        return scores

    def advance(self, memory: NeuralParserMemory, nodes: Parsed, move: Move) -> NeuralParserMemory:
        dropped = None if memory.dropped is None else move.keep(memory.dropped)
        recalled = memory.recalled
        if self.history is not None and recalled is not None:
            recalled = self.history.advance(recalled, move)
        return replace(memory, recalled=recalled, dropped=dropped)
