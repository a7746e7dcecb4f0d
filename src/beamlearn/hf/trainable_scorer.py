"""A Hugging Face model as a scorer that `learn` trains."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from ..search.neighbors import Move
from ..search.scorer import ParallelScorer
from ..search.visits import Visits
from ..tasks.transduction.space import TransductionPosition
from .modes import evaluating
from .reading import Read
from .scorer import HuggingFaceScorer
from .space import HuggingFaceSpace
from .tree import TokenTree, split_beams
from .tree_scores import tree_scores_of


@final
@dataclass(frozen=True)
class ReadBeams:
    """What a search has read; nothing, until it asks for scores."""

    scorer: "TrainableScorer"
    space: HuggingFaceSpace
    later: Read | None = None
    """None: these are the initial beams."""

    @cached_property
    def read(self) -> Read:
        """What the model has read; sources are read here, as some trajectories need no scores."""
        if self.later is not None:
            return self.later
        with self.scorer.searching():
            return self.scorer.steps.start(self.space)


@final
class TrainableScorer(ParallelScorer):
    """Log-probabilities of a model of the library transformers, step by step or all at once.

    Trajectories are searched without gradients and without dropout. `replay` then reads all nodes
    that were visited in one pass of the model, with gradients, and with dropout in training: there
    it gives the numbers of the trajectory but for dropout, as `BeamObjective` does.

    A weight that the model uses in several places is saved once.

    >>> from transformers import T5Config, T5ForConditionalGeneration
    >>> from beamlearn import hf
    >>> from beamlearn.learning.collect import beam_trajectory
    >>> sizes = dict(d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, vocab_size=12)
    >>> model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0))
    >>> sources, labels = torch.tensor([[5, 7, 3, 1]]), torch.tensor([[4, 6, 1]])
    >>> rules, costs = hf.rules_of(model, max_new_tokens=5), hf.TokenCosts("edit").of(labels)
    >>> space = hf.HuggingFaceSpace(sources, None, rules, costs=costs)
    >>> path = beam_trajectory(space, TrainableScorer(model), width=3, replay=True)
    >>> path.transitions[0].neighbors.local.requires_grad
    True
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model
        self.steps = HuggingFaceScorer(model)
        self.normalize = "log_softmax"
        self.trees = tree_scores_of(model)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """The model is searched here: it draws nothing at random, and keeps nothing."""
        with torch.no_grad(), evaluating(self.model):
            yield

    def start(self, space: HuggingFaceSpace) -> ReadBeams:
        return ReadBeams(self, space)

    def score(self, memory: ReadBeams, nodes: TransductionPosition) -> Float[Tensor, "batch k a"]:
        return self.steps.score(memory.read, nodes)

    def advance(self, memory: ReadBeams, nodes: TransductionPosition, move: Move) -> ReadBeams:
        with self.searching():
            later = self.steps.advance(memory.read, nodes, move)
        return ReadBeams(self, memory.space, later)

    def replay(self, memory: ReadBeams, visits: Visits) -> Iterator[Float[Tensor, "batch k a"]]:
        space = memory.space
        inputs = {"input_ids": space.input_ids, "attention_mask": space.attention_mask}
        tree = TokenTree.bare(_roots(space)).with_visits(visits)
        # Layers that are computed again on the way back would not be told the places in a tree.
        again = bool(getattr(self.model, "is_gradient_checkpointing", False))
        with self.trees.placing():
            read = self.trees.by_paths if again else self.trees
            logits = read(self.model, inputs, tree)
        _, beams = split_beams(logits, visits, first=1)
        return beams

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Every weight once, under its first name."""
        return {
            name: value
            for name, value in super().state_dict(*args, **kwargs).items()
            if name in self._first_names.values()
        }

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Read what `state_dict` gave."""
        names = {first: first for first in state_dict} | self._first_names
        state = {n: state_dict[first] for n, first in names.items() if first in state_dict}
        return super().load_state_dict(state, strict=strict, assign=assign)

    @cached_property
    def _first_names(self) -> dict[str, str]:
        """For each name of a tensor that is saved, the first name of the same tensor."""
        whole = super().state_dict(keep_vars=True)
        first: dict[int, str] = {}
        for name, tensor in whole.items():
            first.setdefault(id(tensor), name)
        return {name: first[id(tensor)] for name, tensor in whole.items()}


def _roots(space: HuggingFaceSpace) -> Int[Tensor, " batch"]:
    """What the first token of an output follows; of a causal model it is not read again."""
    last = space.input_ids[:, -1]
    return last if space.rules.start is None else torch.full_like(last, space.rules.start)
