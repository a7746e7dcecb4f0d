"""Scores of a Hugging Face model after the logits processors of transformers."""

from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import LogitsProcessorList, PrefixConstrainedLogitsProcessor

from ..search.neighbors import Move
from ..search.scorer import Scorer
from .reading import Read
from .scorer import HuggingFaceScorer
from .written_space import Written, WrittenSpace


@final
class ProcessedScorer(Scorer):
    """Log-probabilities, changed by processors as `generate` does it.

    With beams:     s(v') = s(v) + processors(tokens of v, log_softmax(logits of v))[action]
    If `greedy`:    s(v') = s(v) + log_softmax(processors(tokens of v, logits of v))[action]

    Processors see as many rows as in `generate`: `width` for each example, in its place, also
    after some have ended. What they return for rows that stand for no hypothesis is not read.
    """

    def __init__(
        self,
        inner: HuggingFaceScorer,
        processors: LogitsProcessorList,
        width: int,
        examples: int,
        *,
        greedy: bool = False,
    ) -> None:
        super().__init__()
        self.inner, self.processors, self.width, self.examples = inner, processors, width, examples
        self.length_power, self.greedy = inner.length_power, greedy

    def start(self, space: WrittenSpace) -> Read:
        return self.inner.start(space.inner)

    def score(self, memory: Read, nodes: Written) -> Float[Tensor, "batch k a"]:
        logits = self.inner.score(memory, nodes.position)
        if not self.greedy:
            return self._processed(logits.log_softmax(dim=-1), nodes)
        processed = self._processed(logits, nodes)
        banned = processed == -torch.inf
        return processed.log_softmax(dim=-1).masked_fill(banned, -torch.inf)

    def _processed(
        self, local: Float[Tensor, "batch k a"], nodes: Written
    ) -> Float[Tensor, "batch k a"]:
        if not self.processors:
            return local
        slots, running = local.shape[1], nodes.position.examples
        rows = nodes.rows(self.examples, max(slots, self.width))
        ids, table = (field.flatten(0, 1)[rows.flatten()] for field in (nodes.tokens, local))
        asked = set(running.tolist())
        # Any: transformers writes LongTensor and FloatTensor for tensors of these types
        processors: Any = LogitsProcessorList(
            [_asking_about(asked, rows.shape[1], processor) for processor in self.processors]
        )
        processed: Tensor = processors(ids, table)
        return processed.view(*rows.shape, -1)[running, :slots]

    def advance(self, memory: Read, nodes: Written, move: Move) -> Read:
        return self.inner.advance(memory, nodes.position, move)


def _asking_about(examples: set[int], slots: int, processor: Any) -> Any:
    """Ask `prefix_allowed_tokens_fn` only about examples that are still searched.

    What stands in the rows of others may not begin as it expects.
    """
    if not isinstance(processor, PrefixConstrainedLogitsProcessor):
        return processor
    allowed = processor._prefix_allowed_tokens_fn

    def asked(example: int, tokens: Tensor) -> list[int]:
        return allowed(example, tokens) if example in examples else [0]

    return PrefixConstrainedLogitsProcessor(asked, slots)
