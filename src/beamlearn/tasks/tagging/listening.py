"""What a tagger's scorer needs of each word, as soon as it can be known."""

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from typing import Any, final

import torch
from torch import Tensor

from ...nn.context_stream import ContextStream
from .linear import LinearTagger, LinearTaggerMemory, hashed_word
from .model import Tagger
from .network import NeuralTagger, NeuralTaggerMemory


class Listener(ABC):
    """Hears words one by one. What it says of them waits for as many words as a tagger looks ahead.

    It keeps no more than those words and what the network carries.
    """

    @abstractmethod
    def hear(self, word: str) -> list[Any]:
        """Of the words that the tagger can decide on now, what `put` takes."""

    @abstractmethod
    def end(self) -> list[Any]:
        """The same of all words that were waiting: no other follows."""

    @abstractmethod
    def put(self, memory: Any, place: int, heard: Any) -> Any:
        """The memory of a scorer that knows the word at a place, and no other."""


@final
class NeuralListener(Listener):
    """Encodes words in their contexts."""

    def __init__(self, tagger: Tagger, scorer: NeuralTagger) -> None:
        self.tagger, self.scorer = tagger, scorer
        self.contexts = ContextStream(scorer.streamed)

    def hear(self, word: str) -> list[Tensor]:
        features = self.tagger.encode([word]).features.to(self.tagger.device)
        return self._emitted(self.contexts.read(self.scorer.words(features[None])[0]))

    def end(self) -> list[Tensor]:
        return self._emitted(self.contexts.end())

    def put(self, memory: NeuralTaggerMemory, place: int, heard: Tensor) -> NeuralTaggerMemory:
        return replace(memory, emissions={place: heard})

    def _emitted(self, contexts: list[Tensor]) -> list[Tensor]:
        return [self.scorer.emit(context) for context in contexts]


@final
class LinearListener(Listener):
    """Hashes words with their neighbors."""

    BEFORE = 2

    def __init__(self, tagger: Tagger, scorer: LinearTagger, ahead: int) -> None:
        self.device, self.scorer, self.ahead = tagger.device, scorer, ahead
        self.waiting: deque[str] = deque()
        self.window: deque[str] = deque(["<"] * self.BEFORE)

    def hear(self, word: str) -> list[Tensor]:
        self.waiting.append(word)
        return self._next(word.lower())

    def end(self) -> list[Tensor]:
        return [heard for _ in range(self.ahead) for heard in self._next(">")]

    def put(self, memory: LinearTaggerMemory, place: int, heard: Tensor) -> LinearTaggerMemory:
        emission = self.scorer.dot(heard)
        return replace(memory, emissions={place: emission}, words={place: heard[:, 0]})

    def _next(self, word: str) -> list[Tensor]:
        """The features of the first word that waits, if the window is full."""
        self.window.append(word)
        if len(self.window) <= self.BEFORE + self.ahead:
            return []
        row = hashed_word(self.waiting.popleft(), list(self.window), self.BEFORE)
        self.window.popleft()
        return [torch.tensor([row], dtype=torch.long, device=self.device)]


def listener_of(tagger: Tagger, ahead: int) -> Listener:
    """The listener for the scorer of a tagger that looks so many words ahead."""
    scorer = tagger.scorer
    if isinstance(scorer, LinearTagger):
        return LinearListener(tagger, scorer, ahead)
    if isinstance(scorer, NeuralTagger):
        return NeuralListener(tagger, scorer)
    raise TypeError(f"`stream` has no way to feed words to a {type(scorer).__name__}.")
