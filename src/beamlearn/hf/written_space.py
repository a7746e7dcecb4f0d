"""The space of a Hugging Face model with all tokens of every hypothesis, for who looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers import StoppingCriteriaList

from ..search.neighbors import Move
from ..search.space import Expansion, SearchSpace
from ..search.steps_left import StepsLeft
from ..tasks.transduction.space import TransductionPosition
from .phrases import Phrases
from .space import HuggingFaceSpace


@dataclass(frozen=True)
class Written:
    """The nodes of a beam, with what was read and written on the way to each."""

    position: TransductionPosition
    tokens: Int[Tensor, "batch k length"]
    """The prompt, or what the decoder read first, and all tokens since."""
    idle: Bool[Tensor, "batch k"] | None
    """Which slots hold nothing; None: none."""
    progress: Int[Tensor, "batch k phrases"] | None
    """How much of each phrase is there, where there are phrases."""

    def rows(self, examples: int, slots: int) -> Int[Tensor, "examples slots"]:
        """Which hypothesis stands in each row where `generate` has rows for all examples and slots.

        Slots that hold nothing repeat the first one of their example. Examples that have ended
        repeat whatever comes first.
        """
        batch, k, _ = self.tokens.shape
        at = torch.arange(slots, device=self.tokens.device).repeat(batch, 1)
        at = at.masked_fill(at >= k, 0)
        if self.idle is not None:
            at[:, :k] = at[:, :k].masked_fill(self.idle, 0)
        found = at.new_zeros(examples, slots)
        found[self.position.examples] = at + torch.arange(batch, device=at.device)[:, None] * k
        return found


@final
class WrittenSpace(SearchSpace[Written]):
    """A space whose nodes know their tokens; with `phrases`, every output contains them."""

    def __init__(self, inner: HuggingFaceSpace, phrases: Phrases | None = None) -> None:
        self.inner, self.phrases = inner, phrases
        self.max_steps, self.finish = inner.max_steps, inner.finish

    def __len__(self) -> int:
        return len(self.inner)

    def initial(self) -> Written:
        progress = None if self.phrases is None else self.phrases.start(len(self))
        return Written(self.inner.initial(), self.inner.input_ids[:, None], None, progress)

    def expand(self, nodes: Written) -> Expansion:
        expansion = self.inner.expand(nodes.position)
        if self.phrases is None or nodes.progress is None:
            return expansion
        left = self.max_steps - nodes.position.length - 1
        return self.phrases.restrict(expansion, nodes.progress, left)

    def advance(self, nodes: Written, move: Move) -> Written:
        progress = nodes.progress
        if self.phrases is not None and progress is not None:
            progress = self.phrases.after(move.follow(progress), move.actions)
        return Written(
            self.inner.advance(nodes.position, move),
            torch.cat([move.follow(nodes.tokens), move.actions[..., None]], dim=-1),
            move.stays,
            progress,
        )

    def steps_left(self, nodes: Written) -> StepsLeft:
        return self.inner.steps_left(nodes.position)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[list[int]]:
        return self.inner.outputs(examples, actions)

    def parts(self, nodes: Written) -> Int[Tensor, "batch k a"]:
        """How many tokens of phrases each neighbor still lacks."""
        assert self.phrases is not None
        assert nodes.progress is not None
        return self.phrases.missing_after(nodes.progress)


@final
class Stopping:
    """Stopping criteria of transformers, for `pooled_search`."""

    def __init__(self, criteria: StoppingCriteriaList) -> None:
        self.criteria = criteria

    def __call__(
        self, nodes: Written, slots: Int[Tensor, "batch m"], actions: Int[Tensor, "batch m"]
    ) -> Bool[Tensor, "batch m"]:
        before = nodes.tokens.gather(1, slots[..., None].expand(-1, -1, nodes.tokens.shape[-1]))
        written = torch.cat([before, actions[..., None]], dim=-1)
        stopped: Tensor = self.criteria(written.flatten(0, 1), None)
        return stopped.view(slots.shape)
