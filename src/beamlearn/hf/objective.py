"""What a batch costs in training: the likelihood of its labels, and losses along beams."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..learning.collect import beam_trajectory
from ..learning.trajectory import Trajectory
from ..losses import SURROGATES, Loss, with_best
from ..search.beam_search import SearchResult, beam_search
from ..search.oracle import Oracle
from ..search.rollout import RolloutOracle
from ..strategies import Strategy, as_strategy
from .batches import Batch
from .config import BeamArguments
from .costs import NO_LABEL, TokenCosts
from .modes import evaluating
from .rules import plain_rules_of
from .scorer import HuggingFaceScorer
from .space import HuggingFaceSpace
from .string_costs import StringCost, output_cost, string_costs
from .tree import TokenTree, split_beams
from .tree_scores import tree_scores_of


@dataclass(frozen=True)
class BeamLosses:
    """The losses of a batch, with their gradient, and what was seen on the way."""

    likelihoods: Float[Tensor, ""] | None
    """Minus the log-probability of all labels; None: it was not asked for."""
    losses: Float[Tensor, " batch"]
    """Along the beams of each example."""
    costs: Float[Tensor, " batch"]
    """Those of the outputs that were found."""
    increases: Float[Tensor, " batch"]
    """How often the learned policy raises the cost."""
    on_policy: Float[Tensor, " batch"]
    """Whether all beams are the learned policy's own."""


class BeamObjective:
    """The loss of this library for a Hugging Face model, whatever loop it is trained in.

    Beams are searched without gradients, with the model in evaluation mode; it then scores all
    visited beams and the labels in one forward pass, in the mode in which it was found.

    `cost` is a function of an output and a reference, both as text, in place of `beam_cost`. It
    is asked about complete outputs only: those of the final beam for `minimum_risk`, and for other
    losses those that greedy roll-outs from the `beam_roll_outs` best neighbors of a beam reach.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        settings: BeamArguments,
        tokenizer: PreTrainedTokenizerBase | None = None,
        *,
        cost: StringCost | None = None,
        label_smoothing: float = 0.0,
    ) -> None:
        self.model, self.settings, self.tokenizer = model, settings, tokenizer
        self.cost, self.label_smoothing = cost, label_smoothing
        self.strategy = settings.strategy
        self.loss = with_best(SURROGATES[settings.beam_loss], settings.beam_best)
        self.costs = TokenCosts(settings.beam_cost, tokenizer)
        self.tree_scores = tree_scores_of(model)
        encoder_decoder = model.config.is_encoder_decoder
        self.batch_of = Batch.for_encoder_decoder if encoder_decoder else Batch.for_causal
        if cost is not None:
            _check_cost(self.loss, tokenizer)

    def __call__(
        self, batch: Batch, model: nn.Module | None = None, *, round: int = 1, seed: int = 0
    ) -> BeamLosses:
        """What a batch incurs; `model` is the one that is trained, where that is wrapped."""
        model = self.model if model is None else model
        space = self._space(batch)
        over_outputs = self.cost is not None and self.loss.final
        incur = self._over_outputs if over_outputs else self._along_beams
        return incur(batch, model, space, round, seed)

    def costs_of_best(self, batch: Batch) -> Float[Tensor, " batch"]:
        """What the best output of a search costs, for each example."""
        with torch.no_grad(), evaluating(self.model):
            if self.cost is not None:
                return self._judged(batch, self._space(batch))[1][:, 0]
            scorer, policy = HuggingFaceScorer(self.model), as_strategy("continue")
            return self._searched(self._space(batch), scorer, policy, round=1, seed=0).final_costs

    def _searched(
        self,
        space: HuggingFaceSpace,
        scorer: HuggingFaceScorer,
        strategy: Strategy,
        round: int,
        seed: int,
    ) -> Trajectory:
        """The trajectory of a strategy; in evaluation mode and without gradients."""
        return beam_trajectory(
            space,
            scorer,
            self.settings.beam_width,
            strategy=strategy,
            round=round,
            generator=torch.Generator(space.limits.device).manual_seed(seed),
        )

    def _judged(
        self, batch: Batch, space: HuggingFaceSpace
    ) -> tuple[SearchResult, Float[Tensor, "batch k"]]:
        """What a search finds, and its costs by the function of strings."""
        assert self.cost is not None
        assert self.tokenizer is not None
        found = beam_search(space, HuggingFaceScorer(self.model), self.settings.beam_width)
        there = found.nbest_mask
        outputs = found.trace.best_actions(there.shape[1])
        costs = string_costs(self.cost, self.tokenizer, outputs, there, batch.references)
        return found, costs

    def _space(self, batch: Batch) -> HuggingFaceSpace:
        lengths = (batch.references != NO_LABEL).sum(dim=-1).amax(dim=-1)
        limits = lengths + self.settings.beam_extra_tokens
        rules = plain_rules_of(self.model, int(limits.max()))
        costs = self._oracle(batch)
        ids, mask = batch.inputs["input_ids"], batch.inputs["attention_mask"]
        return HuggingFaceSpace(ids, mask, rules, limits=limits, costs=costs)

    def _oracle(self, batch: Batch) -> Callable[[HuggingFaceSpace], Oracle]:
        """What makes the oracle of a space."""
        exact = self.costs.of(batch.references)
        if self.cost is None:
            return exact
        assert self.tokenizer is not None  # checked above
        judged = partial(output_cost, self.cost, self.tokenizer, batch.references)
        per_beam = max(self.settings.beam_roll_outs, self.settings.beam_width)
        return lambda _: RolloutOracle(judged, per_beam=per_beam, reference=exact)

    def _along_beams(
        self, batch: Batch, model: nn.Module, space: HuggingFaceSpace, round: int, seed: int
    ) -> BeamLosses:
        """Losses along the trajectory of the strategy."""
        with torch.no_grad(), evaluating(self.model):
            scorer = HuggingFaceScorer(self.model)
            path = self._searched(space, scorer, self.strategy, round, seed)
        tree = self._labels(batch, space)
        first = len(tree)
        logits = self.tree_scores(model, batch.inputs, tree.with_visits(path.visits))
        labels, numbers = split_beams(logits, path.visits, first)
        return BeamLosses(
            self._likelihood(labels, batch),
            path.rescored(scorer, numbers).losses(self.loss),
            path.final_costs,
            path.increases.float(),
            path.on_policy.float(),
        )

    def _over_outputs(
        self, batch: Batch, model: nn.Module, space: HuggingFaceSpace, round: int, seed: int
    ) -> BeamLosses:
        """The loss over the outputs that a search finds."""
        with torch.no_grad(), evaluating(self.model):
            found, costs = self._judged(batch, space)
        there = found.nbest_mask
        outputs = found.trace.best_actions(there.shape[1])
        tree = self._labels(batch, space)
        first = len(tree)
        logits = self.tree_scores(model, batch.inputs, tree.with_outputs(outputs[..., :-1]))
        labels, branches = logits.tensor_split([first], dim=1)
        scores = _log_probabilities(labels[:, :1], branches, outputs)
        losses = self.loss(scores, costs, self.settings.beam_width, there)
        never = torch.zeros_like(losses)
        return BeamLosses(self._likelihood(labels, batch), losses, costs[:, 0], never, never + 1)

    def _labels(self, batch: Batch, space: HuggingFaceSpace) -> TokenTree:
        """A tree of the labels, if likelihood is asked for, as far as something follows them."""
        start = space.rules.start
        roots = batch.inputs["input_ids"][:, -1]  # of a causal model, and not read again
        roots = roots if start is None else torch.full_like(roots, start)
        tree = TokenTree.bare(roots)
        if self.settings.beam_weight is None:
            return tree
        return tree.with_outputs(batch.labels[:, None, :-1])

    def _likelihood(self, logits: Float[Tensor, "batch length a"], batch: Batch) -> Tensor | None:
        if self.settings.beam_weight is None:
            return None
        return cross_entropy(
            logits.float().flatten(0, 1),
            batch.labels.flatten(),
            ignore_index=NO_LABEL,
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )


def _check_cost(loss: Loss, tokenizer: PreTrainedTokenizerBase | None) -> None:
    if tokenizer is None:
        raise ValueError("`cost` needs a tokenizer, to read outputs; pass it, too.")
    if loss.sampled:
        raise ValueError(
            "`cost` is only known for complete outputs that a search finds, but the loss "
            f"{loss.__name__!r} weighs sampled ones; set `beam_loss` to minimum_risk, or leave "
            "`cost` out and choose a `beam_cost`."
        )


def _log_probabilities(
    first: Float[Tensor, "batch 1 a"],
    branches: Float[Tensor, "batch columns a"],
    outputs: Int[Tensor, "batch k length"],
) -> Float[Tensor, "batch k"]:
    """Those of whole outputs, from the logits of their first token and of the others."""
    _, k, length = outputs.shape
    others = branches.unflatten(1, (k, length - 1))
    every = torch.cat([first[:, None].expand(-1, k, -1, -1), others], dim=2)
    chosen = outputs.clamp(min=0)[..., None]
    numbers = every.float().log_softmax(dim=-1).gather(-1, chosen)[..., 0]
    return numbers.masked_fill(outputs < 0, 0.0).sum(dim=-1)
